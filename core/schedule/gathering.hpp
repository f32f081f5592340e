#pragma once
// Tasks that run on several cores of the host at once.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/task/record.hpp"

namespace tessera::schedule {

/// Brings workers together. A task that wants k cores waits here, with its blocks at hand, and while one waits each
/// worker comes here between two of its own tasks. The one that makes them k runs the task; the others rest until it is
/// over. Workers come for one task at a time, so no two of these wait for each other's; higher priorities come first,
/// then who has waited longest. A task that wants more workers than there are at the moment, since the place of worker
/// 0 is empty, lets others pass. Any thread.
class gathering {
 public:
  /// @param workers  how many there are  @param wants  told when workers are to come, and when not any more
  gathering(std::function<std::uint32_t()> workers, std::function<void(bool)> wants)
      : m_workers(std::move(workers)), m_wants(std::move(wants)) {}

  /// A task of overflow::cores cores is ready.
  void add(task::record& t);
  /// Whether workers are to come; one load.
  bool wants_workers() const noexcept { return m_wanted.load(std::memory_order_relaxed); }
  /// The number of workers has changed.
  void look_again() {
    if (m_any.load(std::memory_order_seq_cst)) recount();
  }
  /// What attend's caller waits for may hold now.
  void notify();

  /// A task and who works for it; the first of them runs it.
  struct team {
    task::record* t = nullptr;           ///< null: the worker goes on with other tasks
    std::vector<std::uint32_t> workers;  ///< their numbers
  };
  /// By a worker between two tasks: it rests until a task that it was there for is over, until none wants it, or, where
  /// no task has it yet, until enough(). Or it is the one that runs a task now, and then calls done.
  team attend(std::uint32_t worker, const std::function<bool()>& enough);
  /// The task has run. `over`: what attend returned.
  void done(const team& over);

 private:
  struct guest {
    std::uint32_t worker;
    bool works = false, is_free = false;
  };
  void recount();
  std::deque<task::record*>::iterator next();  // that there are workers for; with the lock
  void count();                                // with the lock

  const std::function<std::uint32_t()> m_workers;
  const std::function<void(bool)> m_wants;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<task::record*> m_waiting;  // by priority, then age
  std::vector<guest*> m_guests;         // on their stacks: that no task has yet
  std::vector<guest*> m_working;        // for a task that another one runs
  std::atomic<bool> m_any{false}, m_wanted{false};
};

}  // namespace tessera::schedule
