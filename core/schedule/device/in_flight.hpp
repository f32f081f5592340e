#pragma once
// What a device driver has enqueued as one piece of work, until it is complete.
#include <boost/container/small_vector.hpp>
#include <memory>

#include "core/schedule/device/driver.hpp"
#include "core/schedule/device/workspace.hpp"

namespace tessera::schedule {

/// One task, or a batch of equal ones: one ticket, and one workspace.
struct in_flight_batch {
  explicit in_flight_batch(task_workspace&& room) : scratch(std::move(room)) {}

  struct completion_of_batch : transfer::completion {
    in_flight_batch* batch = nullptr;
  };
  completion_of_batch done;
  device_driver* driver = nullptr;
  boost::container::small_vector<batched_task, 1> tasks;
  double work = 0;                                 ///< floating-point operations of each of them
  operation_counters::counter* counter = nullptr;  ///< of their operation on this device
  std::chrono::steady_clock::time_point started;
  std::uint64_t began = 0, enqueued = 0;                     ///< while recording
  std::size_t stream = 0;                                    ///< of m_compute
  boost::container::small_vector<block::ticket, 4> inputs;   ///< not reached when it was enqueued
  boost::container::small_vector<block::ticket, 4> sources;  ///< the points that make what they read, each exactly
  bool inputs_seen = true;                                   ///< `started` is when the last of them was reached
  placement::history::profile* profile =
      nullptr;  ///< with `size`: where their times belong; asked while the first has its arguments
  placement::task_size size;
  task_workspace scratch;

  task::record& first() const noexcept { return *tasks.front().t; }
  bool failed() const noexcept {
    return std::ranges::any_of(tasks, [](const batched_task& m) { return m.why != nullptr; });
  }
};

}  // namespace tessera::schedule
