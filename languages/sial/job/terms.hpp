#pragma once
// What the procedures of a program took: where each is a term of an equation, the terms.
#include <cstdint>
#include <string>
#include <vector>

#include "languages/sial/interpreter/program_run.hpp"

namespace tessera::sial {

/// The statements on data of one procedure, over all workers.
struct term_report {
  std::string name;     ///< of the procedure; "" for what is outside of them
  std::string meaning;  ///< the first line of the comment in front of it
  std::uint64_t statements = 0;
  double seconds = 0, waited = 0;  ///< of the seconds: for blocks and for other workers
  std::uint64_t bytes = 0;         ///< of blocks, fetched and stored
  double flops = 0;                ///< of contractions
};

/// Of a run with run_settings::profile; those that took most come first.
std::vector<term_report> terms_of(const program_run& run);

/// A table, a line for each; without the end of its last line.
std::string to_text(const std::vector<term_report>& terms);

}  // namespace tessera::sial
