#pragma once
// A run in virtual time: one thread plays all workers and device threads.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

/// What the threads of a real run would be doing.
struct scheduler::simulated_run {
  /// A worker; number 0 is whoever waits, the others are those of the threads with these numbers.
  struct worker {
    scheduler* owner = nullptr;
    thread_context* mine = nullptr;
    bool idle = true;
    task::record* running = nullptr;  // until its time is over
    std::uint64_t began = 0, ns = 0;
    std::shared_ptr<const block::failure> why;
  };
  /// The thread of a device.
  struct driver {
    device_driver* driver = nullptr;
    thread_context* mine = nullptr;
    std::uint64_t free_at = 0;  // until then it is enqueueing
  };
  std::vector<worker> workers;
  std::vector<driver> drivers;
  std::uint32_t idle_workers = 0;  // without worker 0
  std::uint32_t first_idle = 1;    // none of a lower number is idle, but for 0
  bool host_work = false;          // something may be there for an idle worker
  bool stepping = false;
  bool stuck = false;  // nothing will ever happen; it has been reported
};

}  // namespace tessera::schedule
