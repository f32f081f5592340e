#pragma once
// Why workers and streams did nothing.
#include <array>
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
  nanoseconds total() const noexcept;
  idle_time& operator+=(const idle_time& other) noexcept;
};

/// One of these causes, for all who list them.
struct idle_cause {
  nanoseconds idle_time::*part;
  const char* key;      ///< in JSON
  const char* heading;  ///< of a column or row
};
/// All of them, the last that is asked for first.
inline constexpr std::array idle_causes{idle_cause{&idle_time::nothing_submitted, "nothing_submitted", "no tasks"},
                                        idle_cause{&idle_time::nothing_ready, "nothing_ready", "none ready"},
                                        idle_cause{&idle_time::data, "data", "data"},
                                        idle_cause{&idle_time::memory, "memory", "memory"},
                                        idle_cause{&idle_time::slab, "slab", "slab"},
                                        idle_cause{&idle_time::runtime, "runtime", "runtime"},
                                        idle_cause{&idle_time::barrier, "barrier", "barrier"}};
static_assert(sizeof(idle_time) == idle_causes.size() * sizeof(nanoseconds), "every cause stands in the table");

inline nanoseconds idle_time::total() const noexcept {
  nanoseconds sum = 0;
  for (const idle_cause& c : idle_causes) sum += this->*c.part;
  return sum;
}
inline idle_time& idle_time::operator+=(const idle_time& other) noexcept {
  for (const idle_cause& c : idle_causes) this->*c.part += other.*c.part;
  return *this;
}

/// By track; zero for those that are neither workers nor streams. Within the wait of a task, data come before memory,
/// slabs and workers, since a timeline keeps the sums alone.
std::vector<idle_time> idle_times(const timeline& of);

}  // namespace tessera::trace
