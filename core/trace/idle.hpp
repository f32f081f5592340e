#pragma once
// Why workers and streams did nothing.
#include <vector>

#include "core/trace/timeline.hpp"

namespace tessera::trace {

/// The time in which a worker or stream ran no task, by what was the matter at its place. Each moment has one cause,
/// the first of these that holds.
struct idle_time {
  nanoseconds barrier = 0;        ///< the row's own thread waited at a barrier of its program
  nanoseconds runtime = 0;        ///< a task was ready there, and nobody had begun it: the runtime, or another process
  nanoseconds slab = 0;           ///< a thread of the place asked a plugin for a slab of memory
  nanoseconds memory = 0;         ///< a task there had no room for its blocks
  nanoseconds data = 0;           ///< a task there waited for blocks on their way
  nanoseconds nothing_ready = 0;  ///< tasks were submitted, and all waited for others
  nanoseconds nothing_submitted = 0;
  nanoseconds total() const noexcept {
    return barrier + runtime + slab + memory + data + nothing_ready + nothing_submitted;
  }
};

/// By track; zero for those that are neither workers nor streams. Within the wait of a task, data come before memory,
/// slabs and workers, since a timeline keeps the sums alone.
std::vector<idle_time> idle_times(const timeline& of);

}  // namespace tessera::trace
