#pragma once
// Two runs side by side.
#include <string>

#include "core/trace/summary.hpp"

namespace tessera::trace {

/// One of two runs.
struct compared_run {
  std::string name;  ///< of its file
  const timeline& of;
  const summary& figures;
};

/// For the terminal: length, waits and idle times of both, and of each operation how often and how long it ran, in the
/// order of what it takes longer or shorter in the second run.
std::string compare_text(const compared_run& a, const compared_run& b);
/// The same figures as JSON; times in seconds.
std::string compare_json(const compared_run& a, const compared_run& b);

}  // namespace tessera::trace
