#pragma once
// How far a thread that submits may be ahead of those that run the tasks.
#include <cstdint>

#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_table.hpp"

namespace tessera::schedule {

/// So many tasks, and bytes of their blocks, are open at most; a thread that has filled the window waits until half of
/// it is left. Threads count what they submit and end; the window adds up. Any thread.
class submission_window {
 public:
  /// @param bytes  0: not limited
  submission_window(const thread_table& threads, std::uint64_t tasks, std::uint64_t bytes) noexcept
      : m_threads(threads), m_tasks(tasks), m_bytes(bytes) {}

  std::uint64_t tasks() const noexcept { return m_tasks; }
  bool counts_bytes() const noexcept { return m_bytes != 0; }

  /// By `thread`.
  static void note_submitted_bytes(thread_context& thread, std::uint64_t bytes) noexcept {
    thread.submitted_bytes.store(thread.submitted_bytes.load(std::memory_order_relaxed) + bytes,
                                 std::memory_order_relaxed);
  }
  /// Whether a thread looks at the window at its submission of this number: adding up takes too long for each.
  bool due(std::uint64_t submission) const noexcept {
    return m_bytes != 0 || (submission & (look_every - 1)) == 0 || m_tasks < look_every;
  }

  bool tasks_full() const noexcept { return open_tasks() >= m_tasks; }
  /// `views`: what threads of the program hold ends by their doing alone.
  bool tasks_half_empty(std::uint64_t views) const noexcept { return open_tasks() <= m_tasks / 2 + views; }
  bool bytes_full() const noexcept { return m_bytes != 0 && open_bytes() >= m_bytes; }
  bool bytes_half_empty() const noexcept { return open_bytes() <= m_bytes / 2; }
  std::uint64_t open_tasks() const noexcept {
    const std::uint64_t out = m_threads.retired();  // first: so the difference is not negative
    return m_threads.submitted() - out;
  }
  std::uint64_t open_bytes() const noexcept {
    const std::uint64_t out =
        m_threads.sum([](const thread_context& l) { return l.retired_bytes.load(std::memory_order_acquire); });
    return m_threads.sum([](const thread_context& l) { return l.submitted_bytes.load(std::memory_order_acquire); }) -
           out;
  }

  static constexpr std::uint64_t look_every = 256;

 private:
  const thread_table& m_threads;
  const std::uint64_t m_tasks, m_bytes;
};

}  // namespace tessera::schedule
