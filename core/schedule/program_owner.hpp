#pragma once
// What those that serve threads of the program ask of the one that they work for.
#include <cstdint>
#include <source_location>

#include "core/block/record.hpp"
#include "core/operation/catalog.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/waiter_list.hpp"
#include "core/task/record.hpp"

namespace tessera::schedule {

/// A record of the calling thread for a task, to be filled, and then committed or given back.
inline task::record& take_record(thread_context& thread, const operation::definition& what, std::source_location site) {
  task::record& t = thread.tasks.take();
  t.operation = &what;
  t.site = site;
  return t;
}
/// It was not committed; its arguments have been destroyed, or were never made.
inline void take_back(thread_context& thread, task::record& t) noexcept { thread.tasks.give_back(t, t); }

/// The scheduler, or a test. `thread` is the calling one.
class program_owner {
 public:
  using predicate = waiter_list::predicate;

  /// Throws usage in a child that was forked while the owner was there, unless the thread was known before.
  virtual thread_context& context_of_this_thread() = 0;
  virtual bool left_behind() const noexcept = 0;  ///< whether this is such a child

  // A task of the runtime's own.
  /// It is linked in program order, and queued where it waits for nothing. The calling thread neither waits nor runs
  /// tasks for the window.
  virtual void commit_unbounded(thread_context& thread, task::record& t) = 0;
  virtual void run(thread_context& thread, task::record& t) = 0;                 ///< at once, by the calling thread
  virtual void begun(const task::record& t) = 0;                                 ///< it has its blocks
  virtual void release_successors(thread_context& thread, task::record& t) = 0;  ///< they are queued
  virtual void retire(thread_context& thread, task::record& t, std::uint64_t window_bytes) = 0;

  /// Ends a block once every task submitted before is done with it; returns at once.
  virtual void destroy_later(block::record& block) = 0;

  // The calling thread.
  /// Waits until enough(), and runs tasks meanwhile where it may. `look_every`: see worker_pool::worker_loop.
  virtual void run_tasks_until(thread_context& thread, const predicate& enough, std::uint32_t look_every) = 0;
  virtual void run_one_task(thread_context& thread) = 0;  ///< if one is ready, and the thread may

 protected:
  ~program_owner() = default;
};

}  // namespace tessera::schedule
