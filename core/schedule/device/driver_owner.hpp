#pragma once
// What the driver of a device needs of those around it.
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "core/block/record.hpp"
#include "core/block/ticket.hpp"
#include "core/config/runtime_settings.hpp"
#include "core/placement/placer.hpp"
#include "core/schedule/device/batches.hpp"
#include "core/schedule/device/failed_points.hpp"
#include "core/schedule/failures.hpp"
#include "core/schedule/task_owner.hpp"
#include "core/schedule/thread_context.hpp"
#include "core/schedule/virtual_clock.hpp"
#include "core/task/record.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::validate {
class validator;
}

namespace tessera::schedule {

/// What a driver asks of the one that it works for: the scheduler, or a test. `thread` is the calling
/// one. Called by the driver's thread, `complete`, `retire` and `context_of_this_thread` also by other threads that
/// poll the device's streams.
class driver_owner : public task_owner {
 public:
  /// The calling thread is the driver's from now on; or, in a run in virtual time, it plays that thread.
  virtual thread_context& begin_driver(const placement::place& of, bool played) = 0;
  virtual thread_context& context_of_this_thread() = 0;

  // A task that was queued at the device and has not begun.
  /// False: nothing else can run it, and it stays with the driver. Else another place has it, or it has failed.
  virtual bool place_elsewhere(thread_context& thread, task::record& t, placement::place& from) = 0;
  /// It is dropped, since the run is cancelled.
  virtual void drop(thread_context& thread, task::record& t) = 0;

  // A task that is enqueued.
  /// Its versions are published: what waits for it may start, and wait for them on its own device.
  virtual void enqueued(thread_context& thread, task::record& t) = 0;
  /// What it counts in the window of bytes; asked while its blocks are pinned.
  virtual std::uint64_t window_bytes_of(task::record& t) const = 0;
  /// It is complete.
  virtual void retire(thread_context& thread, task::record& t, std::uint64_t window_bytes) = 0;

  // The device.
  virtual void device_lost(const placement::place& which) = 0;  ///< for the first time
  virtual void device_changed() = 0;                            ///< its state, or whether it could leave now
  virtual void nothing_to_do() = 0;                             ///< the driver is about to sleep

 protected:
  ~driver_owner() = default;
};

class driver_table;

/// What a driver works with; all outlive it.
struct driver_setup {
  driver_owner* owner = nullptr;
  transfer::coherence* coherence = nullptr;
  placement::placer* placer = nullptr;
  const config::runtime_settings* settings = nullptr;
  class failures* failures = nullptr;
  batch_counters* batches = nullptr;
  failed_points* points = nullptr;
  const driver_table* drivers = nullptr;     ///< all of the run; null: this one alone
  validate::validator* validator = nullptr;  ///< null: nothing is validated
  simulation* simulated = nullptr;           ///< set: time is virtual, and the simulated run plays the driver's thread

  /// Real, or virtual in a simulated run.
  std::chrono::steady_clock::time_point now() const noexcept {
    return simulated == nullptr
               ? std::chrono::steady_clock::now()
               : std::chrono::steady_clock::time_point(std::chrono::nanoseconds(simulated->clock.now()));
  }
};

}  // namespace tessera::schedule
