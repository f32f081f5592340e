#pragma once
// From submission to retirement.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
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
#include "core/schedule/device/driver_owner.hpp"
#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/device/hang.hpp"
#include "core/schedule/device_states.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/host_runner.hpp"
#include "core/schedule/host_views.hpp"
#include "core/schedule/memory_deadlock.hpp"
#include "core/schedule/moving_cost.hpp"
#include "core/schedule/parking.hpp"
#include "core/schedule/place_plan.hpp"
#include "core/schedule/recorded_blocks.hpp"
#include "core/schedule/reductions.hpp"
#include "core/schedule/replay_engine.hpp"
#include "core/schedule/run_mode.hpp"
#include "core/schedule/runtime_operations.hpp"
#include "core/schedule/runtime_tasks.hpp"
#include "core/schedule/submissions.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/thread_registry.hpp"
#include "core/schedule/thread_table.hpp"
#include "core/schedule/virtual_clock.hpp"
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
  const plugin::registry::policy_plugin* policy = nullptr;  ///< whom runtime.placement = "policy:NAME" names
  simulation* simulated = nullptr;  ///< set: it runs in virtual time, see virtual_clock.hpp; for one thread then
};

/// Runs tasks. submit from any thread; fence, hold and release from threads that submit.
///
/// Threads: `workers` of them run host tasks, one of which is whoever waits in fence() (so that with one worker no
/// thread is started); one thread drives each device.
class scheduler final : private task::reduction_source, private driver_owner {
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
    thread_context& mine = current_thread();
    task::record& t = mine.tasks.take();
    t.operation = &what;
    t.site = site;
    thread_out = &mine;
    return t;
  }
  /// Step 2: links the task and, when it waits for nothing, queues it. Above the window the calling thread runs tasks,
  /// unless it is in the middle of a task, or `bounded` is false.
  void commit(thread_context& mine, task::record& t, bool bounded = true);
  /// Instead of step 2: the record goes back as it came; its arguments have been destroyed, or were never made.
  static void take_back(thread_context& mine, task::record& t) noexcept { mine.tasks.give_back(t, t); }
  /// In between, submissions of the calling thread neither wait nor run tasks, however many are open. Calls nest.
  void begin_no_waiting() { ++current_thread().unbounded; }
  void end_no_waiting() noexcept {
    if (!left_behind()) --current_thread().unbounded;
  }
  /// See runtime::waiting_elsewhere: sets the flag that it returns, of the current thread; false ends it.
  std::atomic<bool>& wait_elsewhere();

  /// Waits for everything submitted before. Throws what validation has found since the last fence, else rethrows the
  /// first failure since then. Throws usage when the calling thread holds a view.
  void fence(std::source_location site = std::source_location::current());
  /// As fence, also while threads hold views: it waits for everything else. Whoever calls it knows that no task waits
  /// for those.
  void wait_idle(std::source_location site = std::source_location::current());
  /// As wait_idle; of the memory that was adopted, this holds its last versions then. Throws as a fence.
  void wait_home(const transfer::memory_choice& where, std::source_location site);
  /// As fence, but reports failures to nobody.
  void drain() noexcept;
  /// As wait_idle, but reports failures to nobody.
  void settle() noexcept;
  /// Waits until enough(), which the ends of tasks make true, or what look_again tells, and reports failures to nobody.
  /// Any thread may ask it.
  void wait_until(const std::function<bool()>& enough);
  /// After something else than the end of a task that wait_until may wait for: those who wait look again.
  void look_again() { m_pool.wake_waiters(); }
  /// Whether the calling thread is outside of all tasks.
  bool in_program() { return current_thread().in_program(); }
  /// Views that the calling thread holds.
  std::uint32_t views_here() { return current_thread().held_views.load(std::memory_order_relaxed); }
  /// Whether the calling thread holds all views that threads of the program hold at this moment.
  bool views_are_mine() {
    return current_thread().held_views.load(std::memory_order_relaxed) == m_views.held(std::memory_order_relaxed);
  }
  /// Tasks that have not started are dropped from now on, with `reason`; running ones finish.
  void cancel(std::string reason, error_kind kind = error_kind::interrupted);
  /// Whether cancel was called.
  bool cancelled() const noexcept { return m_failures.cancelled(); }
  /// What failed since the last fence; no fence reports it any more.
  failures::report take_failures() { return m_failures.take(); }
  /// A mistake of the program that no task has made: the next fence throws it.
  void note_failure(block::failure what) { m_failures.note(std::move(what)); }
  /// The next fence reports it after all.
  void put_back_failures(failures::report what) { m_failures.put_back(std::move(what)); }
  /// Whether a device was found to hang: the run is cancelled, and what devices use is never given back.
  bool hung() const noexcept { return m_failures.hung(); }

  /// Throws usage where the calling thread may not hold blocks: inside a task or a recording.
  void require_host_access(std::source_location site);
  /// A block for the calling thread in host memory, in program order with the tasks that use it. It only takes its
  /// place among them: wait_for comes next, by the same thread.
  std::unique_ptr<host_access> request_host_access(block::record& block, intent how, std::source_location site);
  /// Returns when it is available. Throws the failure that spoiled it, and usage where the thread would
  /// wait for itself; `asked` has ended then.
  void wait_for(std::unique_ptr<host_access>& asked);
  /// Ends a hold, by the thread that made it: its version is published, its successors are released.
  void end_host_access(host_access& held);

  /// Tasks that the calling thread submits from now on are taken down instead. Throws usage inside a task or a
  /// recording.
  void begin_recording(task::graph_recorder& taker, std::source_location site);
  bool is_recording() { return current_thread().recorder != nullptr; }  ///< whether the calling thread's are
  /// The recording that the calling thread makes keeps something until it ends.
  void keep_with_recording(std::shared_ptr<const void> what) { current_thread().recorder->keep(std::move(what)); }
  /// What the replays of the recording that the calling thread makes are counted by, too.
  void count_replays(const std::shared_ptr<std::atomic<std::uint64_t>>& by) {
    current_thread().recorder->count_replays(by);
  }
  /// See graph_recorder::at_end, of the recording that the calling thread makes.
  void at_recording_end(std::function<void(bool finished)> what) { current_thread().recorder->at_end(std::move(what)); }
  /// Which one that is, to tell it from others; null: none.
  const task::graph_recorder* recording_here() { return current_thread().recorder; }
  void end_recording() noexcept;  ///< tasks are submitted again
  /// Starts a replay, in program order with the tasks around it; waits while its last run is under way. Throws usage
  /// inside a task or a recording.
  void require_playable(std::source_location site);  ///< throws what play throws
  void play(running_replay& what, std::source_location site);
  /// While it is held, no replay begins that counts itself (see count_replays): for those who submit several tasks, or
  /// ask for several views, of blocks that such a recording uses. A replay that came before some of them and after
  /// others would make a thread with views of the first ones wait for itself, or be seen by half of a loop.
  std::shared_lock<std::shared_mutex> hold_replays() { return std::shared_lock(m_replay_order); }
  /// Waits until a replay is through; by the thread that plays it. False: it would never be, since it waits for a view
  /// that the calling thread holds, or for the task that this runs.
  bool wait_for(running_replay& what);
  /// Throws usage where the calling thread waits for itself in wait_for. @param call  "a replay"
  [[noreturn]] void refuse_own_wait(std::string_view call, std::source_location site);
  /// What a replay needs that nobody waits for: it goes when `is_through`, at the next fence or the end of the runtime.
  void keep_until(std::function<bool()> is_through, std::shared_ptr<void> what);
  /// Runs an operation at once on the calling thread: no task, no dependencies, no placement. The operands have host
  /// pointers that nobody else writes meanwhile. Throws what the operation throws; usage when it has no form for the
  /// host.
  void run_in_place(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                    std::span<const operation::operand> operands, operation::in_place_facts* facts = nullptr) {
    m_host.run_in_place(current_thread(), what, arguments, argument_bytes, operands, facts);
  }

  /// Whether the placement would send such a task to a device at this moment, and to which; nothing: the calling thread
  /// had better run it in place, or no device can. Counts as a decision of the policy. Any thread.
  std::optional<placement::device_choice> choose_device(const placement::device_question& asked);
  /// How long the calling thread took for it in place: for later choices.
  void learn_in_place(const placement::device_question& asked, double nanoseconds);
  /// Between begin and commit: the task goes where choose_device said.
  void send_to(const placement::device_choice& chosen, task::record& t);
  /// See runtime::blocks_stay.
  bool blocks_stay() const noexcept { return m_mode.single_space; }
  /// Whether there are places beside the host's workers.
  bool has_devices() const noexcept { return m_mode.has_devices; }
  block::space_set device_spaces() const noexcept;  ///< their memories

  /// The blocks of recordings: who makes one, or exchanges its blocks, tells.
  recorded_blocks& recorded() noexcept { return m_recorded; }
  /// Takes back what a recording holds of the runtime. None of its replays may be under way.
  void forget(task::recording& what);

  /// Devices that come and go: see its detach and attach.
  device_states& devices() noexcept { return m_device_states; }

  /// Adopted blocks, and those that take over their memory: both lists cover the same bytes of it.
  struct retiling {
    std::span<block::record*const> from, to;
  };
  /// New adopted blocks take over the memory of old ones. In program order with the tasks around it; nothing is copied
  /// but what is not at home. The caller destroys the old ones afterwards, when all tasks that use them are submitted.
  /// Where it throws, nothing was submitted.
  void retile(std::span<const retiling> parts, std::source_location site);
  /// The same in each replay of the recording that the calling thread makes. All of them stay as long as that does.
  void record_retile(std::span<const retiling> parts, std::source_location site);
  /// Where more tasks are unfinished than the window allows, runs tasks until half of it is left, as a submission does.
  void wait_for_window();
  /// Runs tasks on the calling thread until this holds, which the ends of tasks may change, or any thread holds a view:
  /// its holder may wait for this thread, and tasks for the view. Not at all where a submission would not wait either:
  /// inside tasks and recordings, and under no_waiting.
  void run_tasks_while_submitting(const std::function<bool()>& until);

  /// Frees a block once every task submitted before is done with it; returns at once.
  void destroy_later(block::record& block);
  /// It is gone for what asks alive(), though it works on: its owner leaves it to its tasks.
  void note_abandoned() noexcept { m_registry.close(); }
  /// Ends with the scheduler; for what may outlive it.
  const std::shared_ptr<lifetime>& alive() const noexcept { return m_registry.alive(); }

  /// Throws usage in a child that was forked while this was there. All else that is asked of it there throws the same,
  /// or does nothing where it must not throw.
  void require_this_process() const { m_registry.require_this_process(); }
  bool left_behind() const noexcept { return alive()->left_behind(); }  ///< whether this is such a child

  // Facts for people and programs.
  const driver_table& drivers() const noexcept { return m_drivers; }         ///< of all devices
  const thread_table& threads() const noexcept { return m_threads; }         ///< with what they have counted
  void time_tasks(bool on) noexcept { m_host.time_tasks(on); }               ///< see runtime::time_tasks
  placement::placer& placement() noexcept { return m_placer; }               ///< with what is learnt about places
  std::uint32_t workers() const noexcept { return m_mode.workers; }          ///< the waiting thread included
  const binding& workers_binding() const noexcept { return m_pool.cpus(); }  ///< to CPUs
  graph_statistics graphs() const noexcept { return m_replays.graphs(); }    ///< what they did for replays
  /// Places that run tasks: host memories with workers first, then devices.
  const std::vector<std::unique_ptr<placement::place>>& places() const noexcept { return m_places; }

 private:
  using predicate = worker_pool::predicate;

  thread_context& current_thread() { return m_registry.current(); }

  // what drivers of devices and those that run tasks on the host ask for (drivers.cpp, dispatch.cpp, retirement.cpp)
  thread_context& begin_driver(const placement::place& of, bool played) override;
  thread_context& context_of_this_thread() override { return current_thread(); }
  bool place_again(thread_context& mine, task::record& t) override;
  bool place_elsewhere(thread_context& mine, task::record& t, placement::place& from) override;
  void fail(thread_context& mine, task::record& t, std::shared_ptr<const block::failure> why) override;
  void drop(thread_context& mine, task::record& t) override;
  void give_copies(task::record& t, placement::place& where) override { m_reductions.give_copies(t, where.space); }
  void begun(const task::record& t) override;
  void wait_for_points(task::record& t, std::span<const block::ticket> points) override;
  void wait_for_memory(task::record& t, placement::place& where, const transfer::acquisition& lacking) override;
  void enqueued(thread_context& mine, task::record& t) override;
  /// The same at its submission and at its end, when its blocks may be gone as soon as its successors are released; so
  /// that it is asked before. 0 for the runtime's own tasks.
  std::uint64_t window_bytes_of(task::record& t) const override;
  void retire(thread_context& mine, task::record& t, std::uint64_t window_bytes) override;
  void device_lost(const placement::place& which) override;
  void device_changed() override;
  void something_ended() override { m_pool.wake_waiters(); }
  void nothing_to_do() override;

  // from ready to running (dispatch.cpp)
  void dispatch(thread_context& mine, task::record& t, when_ready then);
  void end_abandoned(thread_context& mine, task::record& view);  ///< that nobody waits for
  bool give_up_views();  ///< all is at rest: whether a thread that waits for itself was told that it does so in vain
  /// As run_tasks_until; where this thread holds views, or is in a task, false when it waits in vain.
  bool wait_unless_in_vain(thread_context& mine, const predicate& enough, std::uint32_t look_every);
  void end_views_of_ending(thread_context& mine);
  void let_go_of_kept();
  void hand_over(thread_context& mine, task::record& view);  ///< a view whose block is its turn, or which waited for
                                                             ///< something: to the thread that asked
  bool find_place(thread_context& mine, task::record& t);    ///< chooses; false: there is none, and the task has failed
  void enqueue(thread_context& mine, task::record& t, placement::place& where, when_ready then);
  void resume(task::record& t);  ///< one that was set aside

  task::record& begin_retile(const retiling& part, std::source_location site);
  std::vector<task::record*> begin_retiles(std::span<const retiling> parts, std::source_location site);

  // waiting (scheduler.cpp)
  void keep_to_window(thread_context& mine);
  struct host_tasks {  // what worker_pool calls a Host
    scheduler& owner;
    void run(thread_context& mine, task::record& t) const { owner.run(mine, t); }
    bool resolve_deadlock(thread_context& mine) const { return owner.resolve_deadlock(mine); }
  };
  /// Waits until enough(), and runs tasks meanwhile where this thread may. `look_every`: see worker_pool::worker_loop.
  void run_tasks_until(thread_context& mine, const predicate& enough, std::uint32_t look_every = 0);
  bool resolve_deadlock(thread_context& mine);         ///< whether something goes on, perhaps since it was given up
  bool resolve_memory_deadlock(thread_context& mine);  ///< whether a task was released or given up
  struct part_setups;                                  ///< what the parts work with (scheduler.cpp)
  place_plan make_places();
  void make_drivers(const place_plan& plan);
  void make_workers(place_plan& plan);
  void start_threads();  ///< of the workers; throws tessera::error (configuration) when one is refused
  void stop_threads() noexcept;
  void begin_simulation();  ///< instead of start_threads
  void end_own_views();
  bool bring_home(const transfer::memory_choice& where, std::source_location site);
  const char* hint_for_room() const;  // what to do when memory is full
  void wait_for_all(std::source_location site, bool home, const transfer::memory_choice& where = {});
  bool all_retired() const noexcept;
  void worker_thread(thread_context& mine);

  // from running to retired (retirement.cpp)
  void run(thread_context& mine, task::record& t);
  void run_special(thread_context& mine, task::record& t);
  void complete(thread_context& mine, task::record& t,
                when_ready then = when_ready::run_next);  // host: release successors, retire
  void release_successors(thread_context& mine, task::record& t, when_ready then) {
    const auto start = [this, &mine, then](task::record& successor) { dispatch(mine, successor, then); };
    if ((t.flags & task::flag_replayed) != 0)
      m_replays.release_successors(mine, t, start);
    else
      task::release_successors(t, start);
  }
  void give_up(thread_context& mine, task::record& t, const std::shared_ptr<const block::failure>& why);

  // what task::link asks for (scheduler.cpp)
  task::record& make_reduction(block::record& block, block::accumulation& group) override;
  void reduction_linked(task::record& reduction, bool ready) override;
  block::record* make_private(const block::record& base) override { return m_reductions.make_private(base); }

  scheduler_setup m_setup;
  placement::placer m_placer;
  run_mode m_mode;
  std::unique_ptr<simulated_run> m_simulated;  // null: the run is real

  std::vector<std::unique_ptr<placement::place>> m_places;
  driver_table m_drivers;
  const runtime_operations m_own;
  reductions m_reductions;
  host_views m_views;
  struct kept_thing {
    std::function<bool()> is_through;
    std::shared_ptr<void> what;
  };
  std::mutex m_kept_mutex;
  std::vector<kept_thing> m_kept;                      // see keep_until
  std::atomic<std::uint32_t> m_submitters_waiting{0};  // in run_tasks_while_submitting
  adopted_write_back m_write_back;

  thread_table m_threads;
  submissions m_submissions;
  replay_engine m_replays;
  recorded_blocks m_recorded;
  std::shared_mutex m_replay_order;  // exclusive: of replays

  moving_cost m_cost;
  worker_queues m_queues;
  worker_pool m_pool;
  thread_registry m_registry;  // behind what threads use: nobody does when it is closed
  parking m_parking;
  memory_deadlock m_deadlock;
  patience m_view_patience;

  host_runner m_host;
  runtime_tasks m_runtime_tasks;
  device_states m_device_states;

  failures m_failures;
  hang_guard m_hangs;  // last of all that works, first to end
};

}  // namespace tessera::schedule
