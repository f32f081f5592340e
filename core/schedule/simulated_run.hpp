#pragma once
// A run in virtual time: one thread plays all workers and device threads.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/placement/placer.hpp"
#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/submission_window.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_registry.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/schedule/virtual_clock.hpp"
#include "core/schedule/worker_pool.hpp"
#include "core/schedule/worker_queues.hpp"

namespace tessera::schedule {

/// Instead of threads that work and sleep, a loop that lets everybody do what can be done now, and then goes to the
/// next event. By the thread that submits and waits, which is worker 0 whenever it waits.
class simulated_run {
 public:
  using predicate = worker_pool::predicate;

  /// What it works with; all outlive it.
  struct setup {
    simulation* model = nullptr;  ///< its clock, and what the runtime costs
    const thread_table* threads = nullptr;
    const thread_registry* registry = nullptr;
    placement::placer* placer = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;
    const driver_table* drivers = nullptr;
    const submission_window* window = nullptr;
    worker_queues* queues = nullptr;
    worker_pool* pool = nullptr;
    /// Runs a task that was found in a queue.
    std::function<void(thread_context&, task::record&)> run;
    /// A task that occupied a worker is over: `began` and `ns` are virtual.
    std::function<void(thread_context&, task::record&, std::uint64_t began, std::uint64_t ns,
                       const std::shared_ptr<const block::failure>& why)>
        ended;
    /// Nothing is due: whether a task was released or given up.
    std::function<bool(thread_context&)> resolve_memory_deadlock;
  };
  /// `workers`: worker 0 included; their contexts are the first of the table.
  simulated_run(setup with, std::uint32_t workers);
  /// When all tasks are done: what is still being written back ends too, so that nothing is called after the streams
  /// are gone.
  void end() noexcept;
  simulated_run(const simulated_run&) = delete;
  simulated_run& operator=(const simulated_run&) = delete;

  /// As worker_pool::run_tasks_until. Throws usage inside a task or on a second thread, internal when nothing is due
  /// any more.
  void run_tasks_until(thread_context& thread, const predicate& enough);
  /// A task was submitted, which may take time.
  void note_submission(thread_context& thread);
  /// A task of the calling worker, all but executed, takes the time that the clock was charged with. `why`: it has
  /// failed.
  void occupy(thread_context& thread, task::record& t, std::shared_ptr<const block::failure> why);
  /// Queues a task of the host again at the next event.
  void try_later(task::record& t);

 private:
  /// What the thread of a worker would be doing. Worker 0 is the thread that waits.
  struct played_worker {
    simulated_run* run = nullptr;
    thread_context* thread = nullptr;
    bool idle = true;
    task::record* running = nullptr;  // until its time is over
    std::uint64_t began = 0, ns = 0;
    std::shared_ptr<const block::failure> why;
  };
  /// What the thread of a device would be doing.
  struct played_driver {
    device_driver* driver = nullptr;
    thread_context* thread = nullptr;
    std::uint64_t free_at = 0;  // until then it is enqueueing
  };

  bool step_places(bool waiting);  // whether anybody did anything; `waiting`: worker 0 too
  bool step_drivers();
  bool serve(played_worker& w, bool& any);  // false: it finds nothing, so nobody does
  void end_task(played_worker& w);
  virtual_clock& clock() const noexcept { return m_setup.model->clock; }

  const setup m_setup;
  std::vector<played_worker> m_workers;  // never resized: events name them
  std::vector<played_driver> m_drivers;
  std::uint32_t m_idle_workers = 0;  // without worker 0
  std::uint32_t m_first_idle = 1;    // none of a lower number is idle, but for 0
  bool m_host_work = false;          // something may be there for an idle worker
  bool m_stepping = false;
  bool m_stuck = false;  // nothing will ever happen; it has been reported
};

}  // namespace tessera::schedule
