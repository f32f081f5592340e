#pragma once
// A statement of a front end's own language, as the place that tasks come from.
#include <atomic>
#include <cstdint>
#include <string>

namespace tessera::task {

/// Named by task_options::from; outlives its tasks. The runtime adds to the counters, from any thread.
struct source {
  explicit source(std::string where) : text(std::move(where)) {}
  const std::string text;                      ///< "ccsd.sialx:12"; messages have it instead of the C++ file and line
  std::atomic<std::uint64_t> device_tasks{0};  ///< ended on devices, well or not
  std::atomic<std::uint64_t> device_nanoseconds{0};  ///< that they took there
};

}  // namespace tessera::task
