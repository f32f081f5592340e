#pragma once
// Tasks that a device is given as one launch: what is counted, and how many there may be.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/schedule/statistics.hpp"

namespace tessera::schedule {

/// Counted by the drivers.
struct batch_counters {
  std::atomic<std::uint64_t> launched{0}, tasks{0};
  void add(std::size_t count) noexcept {
    launched.fetch_add(1, std::memory_order_relaxed);
    tasks.fetch_add(count, std::memory_order_relaxed);
  }
  batch_statistics read() const noexcept { return {launched.load(), tasks.load()}; }
};

/// What a device takes at a time. Times are those of work at the device's peak, which small tasks do not reach: a
/// launch costs some microseconds, so a longer task gains little, and what waits for it, or could begin to be copied,
/// would wait for the whole batch.
struct batch_bounds {
  static constexpr double longest_task_seconds = 2e-6;
  static constexpr double longest_seconds = 50e-6;
  static constexpr std::uint64_t memory_share =
      8;  ///< its blocks and workspace take at most one of so many parts of the memory

  std::size_t tasks = 1;             ///< at most; 1: none
  double operations_per_second = 0;  ///< the device's peak; 0: not known, and times bound nothing
  std::uint64_t memory = 0;          ///< bytes that the device's memory may hold
  std::size_t streams = 1;           ///< what is ready is dealt to them

  /// Tasks in a batch, of equal ones of so many operations and bytes, when `ready` of them may be ready; 1: none.
  std::size_t most(double operations, std::uint64_t bytes, std::size_t ready) const noexcept {
    std::size_t count = std::min(tasks, (ready + streams - 1) / streams);
    if (operations > 0 && operations_per_second > 0) {
      const double seconds = operations / operations_per_second;
      if (seconds > longest_task_seconds) return 1;
      count = std::min(count, static_cast<std::size_t>(longest_seconds / std::max(seconds, 1e-9)));
    }
    if (bytes > 0) count = static_cast<std::size_t>(std::min<std::uint64_t>(count, memory / memory_share / bytes));
    return std::max<std::size_t>(count, 1);
  }
};

}  // namespace tessera::schedule
