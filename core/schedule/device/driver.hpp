#pragma once
// The thread that feeds one device.
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/schedule/device/admission.hpp"
#include "core/schedule/device/batch_picker.hpp"
#include "core/schedule/device/compute_streams.hpp"
#include "core/schedule/device/departure.hpp"
#include "core/schedule/device/driver_owner.hpp"
#include "core/schedule/device/memory_waiters.hpp"
#include "core/schedule/device/stream_times.hpp"
#include "core/schedule/device/under_way.hpp"
#include "core/schedule/device/workspace.hpp"
#include "core/schedule/event_count.hpp"
#include "core/schedule/thread_context.hpp"

namespace tessera::validate {
struct shadow_copies;
}

namespace tessera::schedule {

struct in_flight_batch;

/// A task of a batch: of an enqueued task, or of several that were one launch.
struct batched_task {
  task::record* t = nullptr;
  std::shared_ptr<const block::failure> why;  ///< it failed while it was being enqueued
  /// Its sources in the list of all end here, and begin where those of the one before end.
  std::size_t sources_end = 0;
};

/// Takes tasks from its place's queue by priority, acquires their blocks, enqueues them with device-side waits, and
/// publishes what they make at once, so that copies for later tasks run beside the computation of earlier ones. The
/// thread waits only when there is nothing to enqueue.
class device_driver {
 public:
  device_driver(const driver_setup& setup, placement::place& where);
  ~device_driver();
  device_driver(const device_driver&) = delete;
  device_driver& operator=(const device_driver&) = delete;

  void start();
  void stop();
  /// Something may be there to do. Any thread.
  void wake() noexcept {
    if (m_setup.simulated != nullptr)
      m_woken = true;
    else
      m_events.notify_one();
  }
  // A simulated run has no thread for it. Instead it calls these, with the driver's context as the current one of the
  // thread that plays all.
  thread_context& play();  ///< once, instead of start
  bool take_wake() noexcept { return std::exchange(m_woken, false); }
  bool poll_all();             ///< whether anything was reached
  std::size_t start_next();    ///< takes a task from the queue, if it may, and what can go with it; how many that were
  bool anything_busy() const;  ///< whether anything enqueued is not yet complete
  bool must_ask() const;       ///< whether any of it is such that no call of the plugin will tell
  std::uint32_t compute_streams() const noexcept { return static_cast<std::uint32_t>(m_compute.count()); }
  const std::vector<transfer::stream*>& streams() const noexcept { return m_compute.all(); }
  bool has_stream(std::uint32_t number) const noexcept { return m_compute.has(number); }
  const placement::place& where() const noexcept { return m_where; }
  /// The device leaves or comes back: look at the place's state.
  void state_changed() noexcept {
    m_state_changed.store(true);
    wake();
  }
  /// A task of this device begins or ends to wait for memory. Any thread.
  void begin_wait(const task::record& t) { m_memory_waiters.add(t.sequence); }
  void end_wait(const task::record& t);
  /// What it does to leave.
  device_departure& departure() noexcept { return m_departure; }
  /// Whether tasks are queued (and not held back), enqueued or being handled.
  bool active() const noexcept {
    return m_admission.enqueued() != 0 || m_handling.load() ||
           (m_admission.awaiting() != 0 && m_where.ready_queue().has_acquired()) ||
           m_where.ready_queue().has(age_limit());
  }
  /// A task of this device that has its blocks goes back into the queue.
  void note_resumed() noexcept { m_admission.note_resumed(); }

 private:
  void loop();
  task::record* next_task();
  bool look_on();
  bool startable() const;                             ///< whether start_next would find one
  void note_started(const task::record& t) noexcept;  ///< or given up: it is in the queue no more
  std::uint64_t age_limit() const { return m_memory_waiters.age_limit(m_admission.under_way()); }
  std::size_t start_task(task::record& t);
  std::size_t start_acquired(task::record& t, transfer::acquisition& a, task_workspace&& scratch);
  std::size_t start_without_memory(task::record& t, transfer::acquisition& a, task_workspace&& scratch);
  void note_inputs();

  // From enqueued to complete (in_flight.cpp).
  void enqueue_batch(task::record& t, std::size_t stream, std::span<const block::ticket> inputs,
                     std::span<const block::ticket> sources, task_workspace&& scratch);
  void enqueue_alone(batched_task& m, const in_flight_batch& f, transfer::stream& on,
                     std::unique_ptr<validate::shadow_copies>& shadows);
  operation::context context_of(task::record& t, const in_flight_batch& f, transfer::stream& on) const;
  std::shared_ptr<const block::failure> why_not_enqueued(const task::record& t, std::string_view what, error_kind kind);
  bool may_have_failed(const in_flight_batch& f, tsr_status status) const;
  std::shared_ptr<const block::failure> why_failed(block::ticket at);
  std::shared_ptr<const block::failure> failed_input(const task::record& t, std::span<const block::ticket> sources);
  void check_result(in_flight_batch& f, tsr_status status);
  std::uint64_t learn_time(in_flight_batch& f);
  void complete(in_flight_batch& f, tsr_status status);

  // Equal tasks in one launch (batching.cpp).
  void pick_others(task::record& first);
  void take_common_workspace(task::record& first, task_workspace& out);
  void acquire_others(std::span<const block::ticket> waits, const transfer::stream& on);
  void join_resumed(task::record& first, task_workspace& scratch);
  bool waits_for_copies(const transfer::acquisition& got) const;
  bool enqueue_together(in_flight_batch& f, transfer::stream& on);

  bool step_aside();  ///< of a device that leaves: queued tasks go elsewhere, then its memory is emptied

  // a device that is lost (loss.cpp)
  bool handle_device_loss();
  void release_blocks(task::record& t);
  bool give_memory_up();

  const driver_setup m_setup;
  driver_owner& m_owner;
  placement::place& m_where;
  class compute_streams m_compute;
  admission m_admission;
  std::atomic<bool> m_handling{false}, m_stop{false};
  event_count m_events;
  std::thread m_thread;
  thread_context* m_context = nullptr;
  bool m_woken = false;  // simulated
  stream_times m_times;
  const std::chrono::nanoseconds m_look_time;
  std::atomic<bool> m_state_changed{false};
  device_departure m_departure;
  memory_waiters m_memory_waiters;
  workspaces m_workspaces;
  batch_picker m_picker;
  std::vector<batched_task> m_joined;  // picked and acquired, with their sources in the next list
  std::vector<block::ticket> m_joined_sources;
  transfer::acquisition m_joining;
  std::vector<operation::operand> m_batch_operands;
  std::vector<operation::context> m_contexts;
  launches_under_way m_under_way;
};

}  // namespace tessera::schedule
