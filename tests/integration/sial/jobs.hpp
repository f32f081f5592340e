#pragma once
// Jobs of SIAL programs, run in process: from files or from text.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "languages/sial/data/init_file.hpp"
#include "languages/sial/job/job.hpp"

namespace tessera::testing {

/// Programs, compiled, with all the lines that they were made from.
struct sial_programs {
  std::vector<sial::job_program> all;
  std::vector<std::string> printing_lines(
      std::uint32_t number) const;  ///< what stands in line `number` of any of their files
};

/// Reads and compiles; messages that are errors are thrown.
sial_programs programs_from_files(const std::vector<std::string>& paths);
/// One program of one file, "test.sialx".
sial_programs program_from_text(const std::string& text);

/// How a job is run.
struct sial_job_settings {
  unsigned workers = 1;
  bool deterministic = false;
  /// "host", "two hosts" (memories of it), and beside a host "sim", "two sims", "cuda_emulated", "opencl"; or TOML:
  /// keys of [runtime], then tables.
  std::string machine = "host";
  sial::device_use devices = sial::device_use::best;
  std::vector<sial::instruction> instructions = {};  ///< besides the built-in ones
};

/// What a job has left.
struct sial_outcome {
  std::string printed;
  std::uint64_t peak_bytes = 0;                            ///< of the host's blocks, all together
  sial::run_counters counters;                             ///< of all programs together
  std::uint64_t device_tasks = 0, device_nanoseconds = 0;  ///< of their statements
  std::string profile;                                     ///< as text
  sial::kept_items items;  ///< without distributed and served arrays, which end with their runtime
};

/// Runs all on a runtime of their own.
sial_outcome run_job(const sial_programs& programs, const sial::init_data& data, const sial_job_settings& how);
/// The same by processes with one worker each, `how.workers` of them; what worker 0 has printed and counted. Throws
/// when another process ends otherwise than it should.
sial_outcome run_job_by_processes(const sial_programs& programs, const sial::init_data& data,
                                  const sial_job_settings& how);
/// Runs one program from text.
sial_outcome run_text(const std::string& text, const sial::init_data& data, unsigned workers);
sial_outcome run_text(const std::string& text, const sial::init_data& data, const sial_job_settings& how);

/// Segments of every kind: ao 2 3 1 4, mo 1 2 3 2, moa 2 1 3 2, mob 3 2 1, la 5 4; ints n_two = 2, n_five = 5.
const sial::init_data& common_data();

}  // namespace tessera::testing
