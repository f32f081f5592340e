#pragma once
// Whether a task is worth moving to another core.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "core/operation/catalog.hpp"

namespace tessera::schedule {

/// Learns how far the cores are apart (how long a cache line takes from one to the other) and how long tasks of each
/// operation compute. A task is short when it computes for less time than its record takes to the other core: two
/// threads that share a chain of such tasks are slower than one of them alone. Any thread; samples that meet may be
/// lost.
class moving_cost {
 public:
  /// Lines that the thread which runs a task gets from the one that submitted it.
  static constexpr std::uint32_t lines_per_task = 4;

  /// A line that another core had written took so long.
  void learn_line(std::uint64_t nanoseconds) noexcept {
    // Towards the median: a page fault or a pause of the machine counts as one sample like any other.
    const std::uint32_t now = line();
    const std::uint32_t step = std::max(now / 16, 1u);
    if (nanoseconds > now)
      m_line.store(std::min(now + step, max_line), std::memory_order_relaxed);
    else if (nanoseconds < now)
      m_line.store(std::max(now - step, min_line), std::memory_order_relaxed);
  }
  /// Learns it from a word in a line that another core has written last, which this one has not looked at yet.
  void time_line(const std::uint64_t& word) noexcept {
    using clock = std::chrono::steady_clock;
    const clock::time_point before = clock::now();
    static_cast<void>(std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_relaxed));
    const clock::time_point between = clock::now();
    const clock::time_point after = clock::now();  // what the clock itself takes
    const auto took = (between - before) - (after - between);
    learn_line(static_cast<std::uint64_t>(
        std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count(), 0)));
  }
  /// A task of this operation (a number of the catalog) computed for so long.
  void learn_task(std::uint32_t operation, std::uint64_t nanoseconds) noexcept {
    std::atomic<std::uint32_t>& known = m_tasks[operation];
    const std::uint64_t before = known.load(std::memory_order_relaxed);
    // A sample that is much longer than the others counts no more than four times as much: the machine may have paused.
    const std::uint64_t sample = before == 0 ? nanoseconds : std::min(nanoseconds, 4 * before + 100);
    const std::uint64_t now = before == 0       ? sample
                              : sample < before ? (before + sample) / 2
                                                : (3 * before + sample) / 4;
    known.store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(now, 1, longest)), std::memory_order_relaxed);
  }
  /// What is not known yet is not short.
  bool is_short(std::uint32_t operation) const noexcept {
    const std::uint32_t known = m_tasks[operation].load(std::memory_order_relaxed);
    return known != 0 && known < lines_per_task * line();
  }
  /// Nanoseconds for a line.
  std::uint32_t line() const noexcept { return m_line.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t min_line = 20, max_line = 2000, longest = 1'000'000'000;
  std::atomic<std::uint32_t> m_line{50};  // cores that share a cache
  std::unique_ptr<std::atomic<std::uint32_t>[]> m_tasks =
      std::make_unique<std::atomic<std::uint32_t>[]>(operation::catalog::max_operations);  // 0: not known
};

}  // namespace tessera::schedule
