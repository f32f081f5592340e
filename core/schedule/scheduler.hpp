#pragma once
// From submission to retirement.
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "core/base/lifetime.hpp"
#include "core/block/table.hpp"
#include "core/config/runtime_settings.hpp"
#include "core/location/tree.hpp"
#include "core/operation/catalog.hpp"
#include "core/placement/place.hpp"
#include "core/placement/placer.hpp"
#include "core/plugin/registry.hpp"
#include "core/schedule/adopted_write_back.hpp"
#include "core/schedule/commuting.hpp"
#include "core/schedule/device/driver_owner.hpp"
#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/device/hang.hpp"
#include "core/schedule/device_states.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/host_runner.hpp"
#include "core/schedule/host_views.hpp"
#include "core/schedule/in_place.hpp"
#include "core/schedule/memory_deadlock.hpp"
#include "core/schedule/moving_cost.hpp"
#include "core/schedule/parking.hpp"
#include "core/schedule/place_plan.hpp"
#include "core/schedule/program_owner.hpp"
#include "core/schedule/recorded_blocks.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/reductions.hpp"
#include "core/schedule/replay_engine.hpp"
#include "core/schedule/replay_leftovers.hpp"
#include "core/schedule/replay_player.hpp"
#include "core/schedule/retiler.hpp"
#include "core/schedule/run_mode.hpp"
#include "core/schedule/runtime_operations.hpp"
#include "core/schedule/runtime_tasks.hpp"
#include "core/schedule/submissions.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_registry.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/schedule/view_deadlock.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/schedule/virtual_clock.hpp"
#include "core/schedule/waits.hpp"
#include "core/schedule/worker_pool.hpp"
#include "core/schedule/worker_queues.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::validate {
class validator;
}

namespace tessera::schedule {

class simulated_run;
struct running_replay;

/// What the scheduler works with; all outlive it.
struct scheduler_setup {
  const config::runtime_settings* settings = nullptr;       ///< workers, window, placement, spinning
  const location::tree* tree = nullptr;                     ///< not edited while the scheduler lives
  transfer::coherence* coherence = nullptr;                 ///< with the spaces and streams
  block::table* blocks = nullptr;                           ///< for the private copies of accumulates
  operation::catalog* operations = nullptr;                 ///< gets the scheduler's own operations
  trace::tracer* tracer = nullptr;                          ///< null: nothing is recorded
  validate::validator* validator = nullptr;                 ///< null: nothing is validated
  const plugin::registry::policy_plugin* policy = nullptr;  ///< whom runtime.placement = "plugin:NAME" names
  simulation* simulated = nullptr;  ///< set: it runs in virtual time, see virtual_clock.hpp; for one thread then
};

/// Runs tasks, from submission to retirement. Any thread submits; threads that submit fence. What serves them otherwise
/// is in the parts that it hands out.
///
/// Threads: `workers` of them run host tasks, one of which is whoever waits in fence() (so that with one worker no
/// thread is started); one thread drives each device.
class scheduler final : private task::reduction_source, private driver_owner, private program_owner {
 public:
  /// Starts workers and drivers. Throws tessera::error (configuration) for a tree without CPU workers, an unknown
  /// placement, and when the system refuses a thread.
  explicit scheduler(scheduler_setup setup);
  /// Closes, then stops all threads.
  ~scheduler();
  /// Ends the views that the calling thread holds, waits for those of other threads and for what is unfinished. From
  /// then on alive() says no. Before the owner lets go of the scheduler, since objects that enter meanwhile find it
  /// through the owner.
  void close() noexcept;
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Step 1 of a submission: a task of the calling thread to be filled: accesses, arguments, priority, hint.
  /// `thread_out` is passed on to commit.
  task::record& begin(const operation::definition& what, std::source_location site, thread_context*& thread_out) {
    thread_context& thread = current_thread();
    thread_out = &thread;
    return take_record(thread, what, site);
  }
  /// Step 2: links the task and, when it waits for nothing, queues it. Above the window the calling thread runs tasks,
  /// unless it is in the middle of a task, or `bounded` is false. Instead of it: take_back (program_owner.hpp).
  void commit(thread_context& thread, task::record& t, bool bounded = true);
  /// See waits::fence.
  void fence(std::source_location site = std::source_location::current()) { m_waits.fence(site); }
  /// Whether tasks of the program belong to a recording now that the calling thread submits.
  static bool is_recording(const thread_context& thread) noexcept { return thread.recorder != nullptr; }
  /// Tasks that have not started are dropped from now on, with `reason`; running ones finish.
  void cancel(std::string reason, error_kind kind = error_kind::interrupted);
  /// Frees a block once every task submitted before is done with it; returns at once.
  void destroy_later(block::record& block) override;

  // What serves threads of the program. In a child that was forked while the scheduler was there, what is asked of it
  // throws usage, or does nothing where it must not throw.
  /// How threads wait.
  class waits& waits() noexcept {
    return m_waits;
  }
  /// Blocks in the hands of the program.
  view_requests& views() noexcept { return m_view_requests; }
  /// Tasks that are taken down instead of submitted ...
  class recordings& recordings() noexcept {
    return m_recordings;
  }
  /// ... and played.
  replay_player& replays() noexcept { return m_player; }
  /// Memory of the program that changes its blocks.
  class retiler& retiler() noexcept {
    return m_retiler;
  }
  /// Operations without a task.
  in_place_calls& in_place() noexcept { return m_in_place; }
  /// Devices that come and go.
  device_states& devices() noexcept { return m_device_states; }
  /// What the next fence reports.
  class failures& failures() noexcept {
    return m_failures;
  }

  /// It is gone for what asks alive(), though it works on: its owner leaves it to its tasks.
  void abandon() noexcept { m_registry.close(); }
  /// Ends with the scheduler; for what may outlive it.
  const std::shared_ptr<lifetime>& alive() const noexcept { return m_registry.alive(); }
  /// Throws usage in a child that was forked while this was there.
  void require_this_process() const { m_registry.require_this_process(); }

  /// For people and programs, and what they may set.
  struct parts {
    const std::vector<std::unique_ptr<placement::place>>& places;  ///< host memories with workers first, then devices
    const run_mode& mode;                                          ///< fixed before the first task
    const driver_table& drivers;                                   ///< of all devices
    const thread_table& threads;                                   ///< with what they have counted
    const binding& workers;                                        ///< to CPUs
    placement::placer& placement;                                  ///< with what is learnt about places
    host_runner& host;                                             ///< times tasks, or does not
  };
  parts facts() noexcept { return {m_places, m_mode, m_drivers, m_threads, m_pool.cpus(), m_placer, m_host}; }

 private:
  using predicate = program_owner::predicate;

  thread_context& current_thread() { return m_registry.current(); }

  // what drivers of devices and those that run tasks on the host ask for (drivers.cpp, dispatch.cpp, retirement.cpp)
  thread_context& begin_driver(const placement::place& of, bool played) override;
  thread_context& context_of_this_thread() override { return current_thread(); }
  bool place_again(thread_context& thread, task::record& t) override;
  bool place_elsewhere(thread_context& thread, task::record& t, placement::place& from) override;
  void fail(thread_context& thread, task::record& t, std::shared_ptr<const block::failure> why) override;
  void drop(thread_context& thread, task::record& t) override;
  void give_copies(task::record& t, placement::place& where) override { m_reductions.give_copies(t, where.space); }
  bool exchange_copies(task::record& t, placement::place& where) override {
    return m_reductions.exchange_copies(t, where.space, [this](block::record& unused) { destroy_later(unused); });
  }
  void begun(const task::record& t) override;
  void wait_for_points(task::record& t, std::span<const block::ticket> points) override;
  void wait_for_memory(task::record& t, placement::place& where, const transfer::acquisition& lacking) override;
  void enqueued(thread_context& thread, task::record& t) override;
  /// The same at its submission and at its end, when its blocks may be gone as soon as its successors are released; so
  /// that it is asked before. 0 for the runtime's own tasks.
  std::uint64_t window_bytes_of(task::record& t) const override;
  void retire(thread_context& thread, task::record& t, std::uint64_t window_bytes) override;
  void device_lost(const placement::place& which) override;
  void device_changed() override;
  void something_ended() override { m_pool.wake_waiters(); }
  void nothing_to_do() override;

  // from ready to running (dispatch.cpp)
  void dispatch(thread_context& thread, task::record& t, when_ready then);
  bool find_place(thread_context& thread, task::record& t);  ///< chooses; false: there is none, and the task has failed
  void enqueue(thread_context& thread, task::record& t, placement::place& where, when_ready then);
  void resume(task::record& t);  ///< one that was set aside

  // waiting (scheduler.cpp)
  struct host_tasks {  // what worker_pool calls a Host
    scheduler& owner;
    void run(thread_context& thread, task::record& t) const { owner.run(thread, t); }
    void run_gathered(thread_context& thread, task::record& t) const { owner.run_gathered(thread, t); }
    bool resolve_deadlock(thread_context& thread) const { return owner.resolve_deadlock(thread); }
  };
  void run_tasks_until(thread_context& thread, const predicate& enough, std::uint32_t look_every) override;
  bool left_behind() const noexcept override { return alive()->left_behind(); }
  void run_one_task(thread_context& thread) override { m_pool.run_one_task(host_tasks{*this}, thread); }
  void commit_unbounded(thread_context& thread, task::record& t) override { commit(thread, t, false); }
  bool resolve_deadlock(thread_context& thread);         ///< whether something goes on, perhaps since it was given up
  bool resolve_memory_deadlock(thread_context& thread);  ///< whether a task was released or given up
  bool join_private_copies(memory::space_number space);  ///< see memory_deadlock::setup::join_copies
  struct part_setups;                                    ///< what the parts work with (scheduler.cpp)
  place_plan make_places();
  void make_drivers(const place_plan& plan);
  void make_workers(place_plan& plan);
  void start_threads();  ///< of the workers; throws tessera::error (configuration) when one is refused
  void stop_threads() noexcept;
  void begin_simulation();  ///< instead of start_threads
  void worker_thread(thread_context& thread);

  // from running to retired (retirement.cpp)
  void run(thread_context& thread, task::record& t) override;
  void run_gathered(thread_context& thread, task::record& t);        ///< its cores are reserved
  bool given_up_by_cancel(thread_context& thread, task::record& t);  ///< all are cancelled; the ends of blocks run
  void run_special(thread_context& thread, task::record& t);
  void complete(thread_context& thread, task::record& t,
                when_ready then = when_ready::run_next);  // host: release successors, retire
  void release_successors(thread_context& thread, task::record& t, when_ready then) {
    const auto start = [this, &thread, then](task::record& successor) { dispatch(thread, successor, then); };
    if ((t.flags & task::flag_replayed) != 0)
      m_replays.release_successors(thread, t, start);
    else
      task::release_successors(t, start);
    if ((t.rare & task::rare_holds_blocks) != 0) [[unlikely]]
      m_commuting.leave(t, start);
  }
  void release_successors(thread_context& thread, task::record& t) override {
    release_successors(thread, t, when_ready::queue);
  }
  void give_up(thread_context& thread, task::record& t, const std::shared_ptr<const block::failure>& why);

  // what task::link asks for (scheduler.cpp)
  task::record& make_reduction(block::record& block, block::accumulation& group) override;
  void reduction_linked(task::record& reduction, bool ready) override;
  bool lets_commute() const noexcept override { return !m_setup.settings->deterministic; }
  block::record* make_private(const block::record& base) override { return m_reductions.make_private(base); }

  scheduler_setup m_setup;
  placement::placer m_placer;
  run_mode m_mode;
  std::unique_ptr<simulated_run> m_simulated;  // null: the run is real

  std::vector<std::unique_ptr<placement::place>> m_places;
  driver_table m_drivers;
  const runtime_operations m_own;
  reductions m_reductions;
  commuting_blocks m_commuting;
  host_views m_views;
  adopted_write_back m_write_back;

  thread_table m_threads;
  submissions m_submissions;
  replay_engine m_replays;
  recorded_blocks m_recorded_blocks;
  replay_leftovers m_leftovers;

  moving_cost m_cost;
  worker_queues m_queues;
  worker_pool m_pool;
  thread_registry m_registry;  // destroyed before the members above, which threads use until then
  parking m_parking;
  memory_deadlock m_deadlock;
  view_deadlock m_view_deadlock;

  host_runner m_host;
  runtime_tasks m_runtime_tasks;
  device_states m_device_states;
  class waits m_waits;
  view_requests m_view_requests;
  class recordings m_recordings;
  replay_player m_player;
  class retiler m_retiler;
  in_place_calls m_in_place;

  class failures m_failures;
  hang_guard m_hangs;  // the last that is made, the first that is destroyed
};

}  // namespace tessera::schedule
