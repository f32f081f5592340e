#pragma once
// What the parts of a worker have in common.
#include <cstdint>
#include <string>

#include "languages/sial/interpreter/program_run.hpp"
#include "languages/sial/interpreter/registers.hpp"

namespace tessera::sial {

/// A worker's place in the run, its registers, the statement that it is in, and what it has counted. One thread.
struct worker_state {
  worker_state(program_run& of, unsigned worker)
      : run(of), number(worker), values(of.sizes), steps(of.rt, "SIAL worker " + std::to_string(worker)) {}
  worker_state(const worker_state&) = delete;
  worker_state& operator=(const worker_state&) = delete;

  const array_geometry& array(std::uint32_t number_of_array) const { return run.sizes.array(number_of_array); }

  program_run& run;
  const unsigned number;  ///< of the worker, from 0
  registers values;
  std::uint32_t site = 0;       ///< of the statement, for messages: an index into code::sites
  std::uint64_t statement = 0;  ///< executed so far, those on registers alone not counted
  run_counters counters;
  ::tessera::step_recorder steps;  ///< its statements, in the report
};

}  // namespace tessera::sial
