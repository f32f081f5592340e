#pragma once
// How threads of the program wait.
#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>
#include <utility>

#include "core/schedule/adopted_write_back.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/host_views.hpp"
#include "core/schedule/program_owner.hpp"
#include "core/schedule/replay_leftovers.hpp"
#include "core/schedule/runtime_operations.hpp"
#include "core/schedule/submissions.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/schedule/worker_pool.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::validate {
class validator;
}

namespace tessera::schedule {

/// What a thread waits for, and how.
struct wait_request {
  enum class end : std::uint8_t {
    tasks,            ///< everything that was submitted has ended, but for views that threads hold
    tasks_and_views,  ///< and no other thread holds a view
    window,           ///< half of the window is left, where it is full
    condition         ///< `holds`
  };
  end until = end::tasks;
  /// The condition. Called by any waiting thread, when a task ends and after waits::look_again; reads atomics only.
  std::function<bool()> holds{};
  bool as_submission = false;  ///< as a submission waits: not inside a task, a recording or no_waiting; and not while
                               ///< any thread holds a view, since its holder may wait for this thread
  bool reports = false;        ///< throws what a fence throws, and throws usage inside a task
  bool home = false;           ///< adopted memory holds its last versions then; with `reports`
  transfer::memory_choice where{};  ///< with `home`: which memory; empty: all

  static wait_request quietly(end until = end::tasks) { return {.until = until}; }
  static wait_request reporting() { return {.reports = true}; }
  static wait_request reporting_home(transfer::memory_choice where) {
    return {.reports = true, .home = true, .where = std::move(where)};
  }
  static wait_request for_window() { return {.until = end::window, .as_submission = true}; }
  static wait_request for_condition(std::function<bool()> holds) {
    return {.until = end::condition, .holds = std::move(holds)};
  }
  static wait_request submitting_until(std::function<bool()> holds) {
    return {.until = end::condition, .holds = std::move(holds), .as_submission = true};
  }
};

/// A thread that waits runs tasks meanwhile, where it may. Any thread, unless it says otherwise.
class waits {
 public:
  /// What it works with; all outlive it.
  struct setup {
    program_owner* owner = nullptr;
    const thread_table* threads = nullptr;
    const submissions* submitted = nullptr;
    worker_pool* pool = nullptr;
    host_views* views = nullptr;
    adopted_write_back* write_back = nullptr;
    const runtime_operations* operations = nullptr;
    replay_leftovers* leftovers = nullptr;
    class failures* failures = nullptr;
    transfer::coherence* coherence = nullptr;
    validate::validator* validator = nullptr;  ///< null: nothing is validated
    bool simulated = false;                    ///< in virtual time
  };
  explicit waits(setup with) noexcept : m_setup(with) {}

  /// Waits for everything submitted before, and brings adopted memory home. Throws what validation has found since the
  /// last fence, else rethrows the first failure since then. Throws usage when the calling thread holds a view, inside
  /// a task and inside a recording.
  void fence(std::source_location site);
  /// Waits for the tasks of a group, and rethrows the first failure of one of them. Memory that was adopted stays where
  /// it is. Throws usage as fence. The maker of the group stays its member.
  void fence(task::group& of, std::source_location site);
  /// Blocks until what is asked for holds. Throws failures only where wait_request::reports says so. In a child that
  /// was forked, what waits for tasks and does not report returns at once.
  void wait(const wait_request& what, std::source_location site = std::source_location::current());
  /// Blocks while the window is full. Called by `thread` after each of its submissions. Throws no failure.
  void keep_to_window(thread_context& thread);
  /// Makes all waiting threads test their conditions again. Call it when something else than the end of a task may have
  /// made one true.
  void look_again() { m_setup.pool->wake_waiters(); }

  /// Whether a fence of the calling thread would wait: outside of all tasks and recordings, and without views.
  bool may_wait() {
    const thread_context& thread = m_setup.owner->context_of_this_thread();
    return thread.in_program() && thread.recorder == nullptr && thread.held_views.load(std::memory_order_relaxed) == 0;
  }
  /// Whether the calling thread is outside of all tasks.
  bool in_program() { return m_setup.owner->context_of_this_thread().in_program(); }
  /// In between, submissions of the calling thread neither wait nor run tasks, however many are open. Calls nest.
  void begin_no_waiting() { ++m_setup.owner->context_of_this_thread().unbounded; }
  void end_no_waiting() noexcept {
    if (!m_setup.owner->left_behind()) --m_setup.owner->context_of_this_thread().unbounded;
  }
  /// See runtime::waiting_elsewhere: sets the flag that it returns, of the current thread; false ends it.
  std::atomic<bool>& begin_elsewhere();
  /// A view was granted: submitters that wait give way to its holder.
  void view_granted() {
    if (m_submitters.load() != 0) look_again();
  }

 private:
  thread_context& require_free(std::source_location site);  ///< the calling thread may wait for tasks
  void report(thread_context& thread, const wait_request& what, std::source_location site);
  bool bring_home(const transfer::memory_choice& where, std::source_location site);
  bool all_retired() const noexcept;
  const char* hint_for_room() const;  // what to do when memory is full

  const setup m_setup;
  std::atomic<std::uint32_t> m_submitters{0};  // that wait as_submission for a condition
};

}  // namespace tessera::schedule
