#pragma once
// What is counted when tasks are submitted.
#include <cstdint>

#include "core/schedule/submission_window.hpp"
#include "core/schedule/task_ages.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_table.hpp"

namespace tessera::schedule {

/// Numbers the tasks that threads submit, and knows how far a thread may be ahead of those that run them. Any thread.
class submissions {
 public:
  /// @param bytes  of the window; 0: not limited
  submissions(const thread_table& threads, std::uint64_t tasks, std::uint64_t bytes) noexcept
      : m_window(threads, tasks, bytes) {}

  /// By `thread`: it submits so many tasks, which are open from now on. Returns the age of the first, the
  /// others follow it.
  std::uint64_t add(thread_context& thread, std::uint64_t tasks = 1) noexcept {
    const std::uint64_t first = m_ages.take(thread, tasks);
    thread.submitted.store(thread.submitted.load(std::memory_order_relaxed) + tasks, std::memory_order_release);
    return first;
  }
  const submission_window& window() const noexcept { return m_window; }

 private:
  const submission_window m_window;
  task_ages m_ages;
};

}  // namespace tessera::schedule
