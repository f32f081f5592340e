#pragma once
// Threads that hold host views and wait for each other, or for themselves.
#include <chrono>
#include <cstdint>

#include "core/schedule/memory_deadlock.hpp"
#include "core/schedule/program_owner.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/schedule/worker_pool.hpp"
#include "core/schedule/worker_queues.hpp"

namespace tessera::schedule {

/// Waits that may be in vain, and finds those that are. Any thread.
class view_deadlock {
 public:
  /// What it works with; all outlive it.
  struct setup {
    program_owner* owner = nullptr;
    const thread_table* threads = nullptr;
    worker_pool* pool = nullptr;
    const worker_queues* queues = nullptr;
    const memory_deadlock* memory = nullptr;  ///< knows what is at rest
    bool simulated = false;                   ///< in virtual time, in which nobody is told
    std::chrono::nanoseconds patience{0};     ///< with threads of the program that hold no views and do not wait
  };
  explicit view_deadlock(setup with);

  /// Waits until enough(), and runs tasks meanwhile. False: the calling thread holds views or is in a task, and no
  /// remaining thread can make it true.
  bool wait(thread_context& thread, const program_owner::predicate& enough, std::uint32_t look_every);
  /// By the last worker that is awake. Returns whether a thread was told that it waits in vain.
  bool resolve();

 private:
  const setup m_setup;
  patience m_patience;
};

}  // namespace tessera::schedule
