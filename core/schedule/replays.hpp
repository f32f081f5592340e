#pragma once
// A replay on its way through the scheduler.
#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/task/replay.hpp"

namespace tessera::schedule {

/// Knows when it is through: all its tasks without successors have released (each lane counts its own, so that nobody
/// contends), hence all others have.
struct running_replay : task::replay {
  explicit running_replay(const task::recording& what, std::size_t lanes) : task::replay(what), done(lanes) {}

  struct alignas(64) counter {
    std::atomic<std::uint32_t> tasks{0};
  };
  std::vector<counter> done;  ///< by lane
  bool started = false;       ///< by the thread that plays it

  bool finished() const noexcept {
    if (!started) return true;
    std::uint32_t sum = 0;
    for (const counter& c : done) sum += c.tasks.load(std::memory_order_acquire);
    return sum == of.sinks;
  }
};

}  // namespace tessera::schedule
