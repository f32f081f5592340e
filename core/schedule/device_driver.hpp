#pragma once
// The thread that feeds one device.
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/schedule/event_count.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera::validate {
struct lent;
}

namespace tessera::schedule {

/// Takes tasks from its executor's queue by priority, acquires their blocks, enqueues them with device-side waits, and
/// publishes what they make at once, so that copies for later tasks run beside the computation of earlier ones. The
/// thread waits only when there is nothing to enqueue.
class device_driver {
 public:
  device_driver(scheduler& owner, executor& where);
  ~device_driver();
  device_driver(const device_driver&) = delete;
  device_driver& operator=(const device_driver&) = delete;

  void start();
  void stop();
  /// Something may be there to do. Any thread.
  void wake() noexcept {
    if (m_owner.m_setup.simulated != nullptr)
      m_woken = true;
    else
      m_events.notify_one();
  }
  // In a simulated run nobody starts it; whoever plays its part calls these instead, with its lane as the current one.
  lane& play();  ///< once, instead of start
  bool take_wake() noexcept { return std::exchange(m_woken, false); }
  bool poll_all();             ///< whether anything was reached
  std::size_t start_next();    ///< takes a task from the queue, if it may, and what can go with it; how many that were
  bool anything_busy() const;  ///< whether anything enqueued is not yet complete
  bool must_ask() const;       ///< whether any of it is such that no call of the plugin will tell
  std::uint32_t compute_streams() const noexcept { return static_cast<std::uint32_t>(m_compute.size()); }
  const std::vector<transfer::stream*>& streams() const noexcept { return m_compute; }
  const executor& where() const noexcept { return m_where; }
  /// The device leaves or comes back: look at the executor's state.
  void nudge() noexcept {
    m_nudged.store(true);
    wake();
  }
  /// A task of this device begins or ends to wait for memory. Any thread.
  void begin_wait(const task::record& t);
  void end_wait(const task::record& t);
  void begin_leaving() noexcept;  ///< before the executor's state says so
  /// Whether the device cannot be emptied before somebody makes room in the parent memory.
  bool starved() const noexcept { return m_starved.load(); }
  /// Why the device could not leave; once.
  std::unique_ptr<error> take_refusal();
  /// Whether tasks are queued (and not held back), enqueued or being handled.
  bool active() const noexcept {
    return m_in_flight.load() != 0 || m_handling.load() || (m_awaiting.load() != 0 && m_where.urgent.has_acquired()) ||
           m_where.urgent.has(youngest_startable());
  }
  /// A task of this device that has its blocks goes back into the queue.
  void note_resumed() noexcept { m_resumed.fetch_add(1); }

 private:
  struct flight;  // an enqueued task, or a batch of them

  /// A task of a flight.
  struct member {
    task::record* t = nullptr;
    std::shared_ptr<const block::failure> why;  ///< it failed while it was being enqueued
    std::size_t sources_end =
        0;  ///< its sources in the list of all end here, and begin where those of the one before end
  };

  void loop();
  task::record* next_task();
  bool startable() const;                             ///< whether start_next would find one
  void note_started(const task::record& t) noexcept;  ///< or given up: it is in the queue no more
  /// Tasks from this age on are held back. Who waits for memory counts as enqueued: else every ready task would push
  /// out for itself what others need before it. Only one that is older than all who wait is tried nevertheless. And not
  /// more than some pass by.
  std::uint64_t youngest_startable() const;
  void note_acquired(const task::record& t);
  std::size_t next_stream();
  // Workspace of tasks (workspace.cpp).
  struct workspace;
  bool take_workspace(task::record& t, workspace& out);
  bool fits(const task::record& t, std::uint64_t workspace_bytes) const;
  void wait_for_workspace(task::record& t, std::uint64_t bytes, std::uint64_t seen);

  std::size_t start_task(task::record& t);
  void note_inputs();

  // From enqueued to landed (flights.cpp).
  void enqueue_flight(task::record& t, std::size_t stream, std::span<const block::ticket> inputs,
                      std::span<const block::ticket> sources, workspace&& scratch);
  void enqueue_alone(member& m, const flight& f, transfer::stream& on, std::unique_ptr<validate::lent>& lent);
  operation::context context_of(task::record& t, const flight& f, transfer::stream& on) const;
  std::shared_ptr<const block::failure> why_not_enqueued(const task::record& t, std::string_view what, error_kind kind);
  std::shared_ptr<const block::failure> spoiled(const task::record& t, std::span<const block::ticket> sources);
  void judge(flight& f, tsr_status status);
  void landed(flight& f, tsr_status status);

  // Equal tasks in one launch (batches.cpp).
  bool goes_with_others(task::record& t) const;
  void gather(task::record& first);
  void take_common_workspace(task::record& first, workspace& out);
  void put_others_back(std::size_t kept);
  void join(std::span<const block::ticket> waits, const transfer::stream& on);
  bool enqueue_together(flight& f, transfer::stream& on);

  // a device that leaves (draining.cpp)
  struct call_back;  // wakes the driver when a memory has room
  bool step_aside();
  bool empty_memory();
  void wait_for_room(memory::space& space, std::uint64_t seen, std::atomic<bool>& registered);
  void refuse_to_leave(error why);

  // a device that is lost (lost_devices.cpp)
  bool go_on_without();
  void release_blocks(task::record& t);
  bool give_memory_up();

  scheduler& m_owner;
  executor& m_where;
  std::vector<transfer::stream*> m_compute;
  std::size_t m_next_stream = 0;
  std::unique_ptr<std::atomic<std::size_t>[]> m_on_stream;  ///< tasks enqueued, by compute stream
  std::size_t m_depth;                                      ///< tasks enqueued at the same time
  std::atomic<std::size_t> m_in_flight{0};
  /// Tasks that have their blocks here, and are not enqueued before copies have come
  std::atomic<std::size_t> m_awaiting{0};
  std::atomic<std::size_t> m_resumed{0};  ///< of those, queued since their copies have come
  std::atomic<bool> m_handling{false}, m_stop{false};
  event_count m_events;
  std::thread m_thread;
  lane* m_lane = nullptr;
  bool m_woken = false;                                               // simulated
  std::vector<std::chrono::steady_clock::time_point> m_last_landing;  // by compute stream
  std::atomic<bool> m_nudged{false}, m_starved{false}, m_no_room{false};
  std::atomic<bool> m_called_by_own{false}, m_called_by_parent{false};  // a call_back is registered there
  std::atomic<std::uint64_t> m_failures_before{0};                      // of write-backs, when the draining began
  mutable spin_lock m_hungry_lock;
  std::vector<std::uint64_t> m_hungry;            // ages of the tasks that wait for memory, descending
  std::size_t m_passed = 0;                       // tasks tried since the oldest of them began to wait
  static constexpr std::size_t most_passed = 16;  // times m_depth
  std::unique_ptr<error> m_refusal;               // under the scheduler's m_device_mutex
  batch_bounds m_bounds;
  std::vector<task::record*> m_others;  // taken from the queue to go with the task that is being started
  std::vector<member> m_joined;         // of those: acquired, with their sources in the next list
  std::vector<block::ticket> m_joined_sources;
  std::size_t m_reach = 4;  // how many are looked at: twice as many as went together last; 0: none, once
  static constexpr std::size_t most_passed_by = 8;
  std::size_t m_passes = most_passed_by;  // tasks of other kinds passed by; fewer while that is in vain
  transfer::acquisition m_joining;
  std::vector<operation::operand> m_batch_operands;
  std::vector<operation::context> m_contexts;
  spin_lock m_watched_lock;
  std::vector<flight*> m_watched;  // enqueued, and their inputs are still on their way; only where times are learnt
};

}  // namespace tessera::schedule
