#pragma once
// The queues of host tasks that are ready, and the order in which a thread looks into them.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/location/tree.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/moving_cost.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_table.hpp"

namespace tessera::schedule {

/// Where a task goes that has become ready because another one has ended.
enum class when_ready : std::uint8_t {
  run_next,  ///< the thread that ended the other one runs it next, with its data still in the cache
  queue      ///< to the end of a queue: the thread may be one that runs no tasks
};

/// Whose tasks a thread may take, besides its own, those of its place and what it can steal from other threads.
enum class reach : std::uint8_t {
  own_core,  ///< not those that asked for another core, whose thread is about to look
  any_core,  ///< those too: they were there while this thread looked for a while, or it goes to sleep
  kept_too   ///< and those that threads keep, which may go on submitting
};

/// Each thread has a queue in its context, from which others steal; each core one for tasks that have asked for it and
/// became ready elsewhere; each place of the host has one for priorities above 0, one for those below 0, and one for
/// what other places' threads send. A thread that submits keeps a short task that is the only ready one (see keep). Any
/// thread.
class worker_queues {
 public:
  /// What it works with; all outlive it.
  struct setup {
    thread_table* threads = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before the first task
    const location::tree* tree = nullptr;                                    ///< says who is near
    moving_cost* cost = nullptr;  ///< says which tasks are short; null: no thread keeps any
  };
  explicit worker_queues(setup with) noexcept : m_setup(with) {}

  /// There is a worker at this location of a place of the host. Before the first task.
  void add_core(location::node_id location, std::uint32_t place);

  /// By a thread of the program that submits a task which is ready. True: it keeps the task, since this is short and
  /// the only one that is ready here: what follows it is most likely a chain, which two threads run more slowly than
  /// one. Others take it when the thread has not submitted anything for a while, so somebody has to be awake.
  bool keep(thread_context& thread, task::record& t, const placement::place& where) noexcept {
    return m_keeps && thread.is_program && !thread.works && thread.in_program() && may_be_kept(t) &&
           thread.place == where.number && thread.ready.size() == 0 && thread.spilled.empty() && thread.kept.put(t);
  }
  /// By `thread`, which has run a chain of short tasks that another thread submits: that one gets this
  /// task, the next of the chain, if it waits or goes on submitting.
  bool give_back(thread_context& thread, task::record& t) noexcept;
  /// Whether the thread has run a chain that is long enough to be given back.
  static bool runs_chain(const thread_context& thread) noexcept { return thread.chain.tasks >= thread.chain.length; }
  /// Whether any thread keeps a task.
  bool any_kept() const noexcept;
  /// By `thread`, before a look: it has slept for longer than a submission takes.
  static void note_nap(thread_context& thread) noexcept {
    thread.watched.rest = 0;
    thread.watched.same = looks_for_pause - 1;
  }

  /// By `thread`: queues a task for a place of the host. False: this thread runs it next, so that nobody
  /// else needs to know.
  bool push(thread_context& thread, task::record& t, placement::place& where, when_ready then) {
    core_queue* const asked = t.hint == task::no_hint ? nullptr : queue_at(t.hint);
    if (t.priority > 0) {
      where.high_priority.push(t);
    } else if (t.priority < 0) {
      where.low_priority.push(t);
    } else if (asked != nullptr && asked->place == where.number &&
               (asked != core_of(thread) || then == when_ready::queue)) {
      asked->tasks.push(t);  // where nobody steals at once, also what a thread of the program runs when it waits
    } else if (thread.is_driver || thread.place != where.number) {
      where.mailbox.push(t);
    } else if (then == when_ready::run_next && thread.next_task == nullptr) {
      thread.next_task = &t;
      return false;
    } else {
      if (!thread.kept.empty()) share_kept(thread);
      push_own(thread, t);
    }
    return true;
  }
  /// By `thread`, which is a worker of the place where the task goes, or waits there: it runs this task
  /// next. False: push has to decide.
  static bool run_next(thread_context& thread, task::record& t) noexcept {
    if (t.priority != 0 || t.hint != task::no_hint || thread.is_driver || thread.next_task != nullptr) return false;
    thread.next_task = &t;
    return true;
  }
  /// By `thread`: the task that it runs next, its own before others'; null: there is none.
  task::record* next_task(thread_context& thread, reach far = reach::any_core);
  /// Whether a task that has asked for a core waits for its thread.
  bool any_at_core() const noexcept;
  /// By `thread`, which runs no more tasks: what it would have run next is for others to take.
  void leave_next(thread_context& thread) noexcept;

  /// Whether the thread would find no task of its own or of its place, which counts on it. By the thread.
  bool nothing_for(const thread_context& thread) const noexcept;
  /// Whether any of them has a task.
  bool any() const noexcept;

 private:
  struct core_queue {
    core_queue(location::node_id at, std::uint32_t of) noexcept : location(at), place(of) {}
    location::node_id location;
    std::uint32_t place;
    std::atomic<bool> attended{true};  // its thread has looked since another one took a task
    alignas(64) task::spill_queue tasks;
  };
  /// Of the core at a location, if a worker is there.
  core_queue* queue_at(location::node_id location) const noexcept {
    return location < m_by_location.size() ? m_by_location[location] : nullptr;
  }
  /// Of the thread's own core; a thread of the program is worker 0 when it runs tasks, wherever it is.
  core_queue* core_of(const thread_context& thread) const noexcept {
    core_queue* const at = queue_at(thread.location);
    return at == nullptr && thread.is_program && !m_cores.empty() ? m_cores.front().get() : at;
  }
  static constexpr std::uint16_t looks_for_pause = 8;  // a few microseconds of a thread that looks all the time
  static void push_own(thread_context& thread, task::record& t) noexcept {
    if (!thread.spilled.empty() || !thread.ready.push(t)) thread.spilled.push(t);  // behind what is there already
  }
  [[gnu::cold]] static void share_kept(thread_context& thread) noexcept {  // it is no longer the only one
    if (task::record* const t = thread.kept.take()) push_own(thread, *t);
  }
  bool may_be_kept(const task::record& t) const noexcept {
    return t.priority == 0 && t.hint == task::no_hint && m_setup.cost->is_short(t.operation->number);
  }
  task::record* take_kept(thread_context& thread, reach far) noexcept;
  void refresh_victims(thread_context& thread);
  placement::place& place(std::uint32_t number) const noexcept { return *(*m_setup.places)[number]; }

  const setup m_setup;
  bool m_keeps = false;  // threads keep short tasks
  std::vector<std::unique_ptr<core_queue>> m_cores;
  std::vector<core_queue*> m_by_location;  // null where there is no worker
};

}  // namespace tessera::schedule
