#pragma once
// Tasks that wait for something other than a predecessor.
#include <atomic>
#include <memory>
#include <vector>

#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

/// Waits for several tickets; frees itself when the last one is reached.
struct scheduler::parked {
  struct one {
    transfer::completion reached;
    parked* all = nullptr;
  };
  scheduler* owner = nullptr;
  task::record* waiting = nullptr;
  std::atomic<std::size_t> left{0};
  std::atomic<tsr_status> worst{TSR_OK};
  std::vector<one> tickets;
};

/// Waits for memory in a space; frees itself when it is woken.
struct scheduler::memory_parked : memory::memory_waiter {
  scheduler* owner = nullptr;
  device_driver* driver = nullptr;  ///< of the device where it is to run; null: it is for the host
  task::record* waiting = nullptr;
};

}  // namespace tessera::schedule
