#pragma once
// What is fixed about a run before its first task: a pure function from the plan of its places and its settings.
#include <cstddef>
#include <cstdint>

#include "core/schedule/place_plan.hpp"

namespace tessera::schedule {

/// What the mode of a run depends on beside its places.
struct run_conditions {
  std::size_t spaces = 1;     ///< memories
  bool validated = false;     ///< a validator looks at every use of a block
  bool simulated = false;     ///< in virtual time
  bool wants_uses = false;    ///< eviction looks at what will be used
  bool learns_times = false;  ///< the policy learns how long tasks take
};

/// The answers to what tasks ask again and again.
struct run_mode {
  std::uint32_t workers = 1;    ///< the thread that waits is one of them
  bool simulated = false;       ///< in virtual time, in which one thread plays all
  bool single_space = false;    ///< blocks are used where they are: no transfers, no eviction to elsewhere, no locks
  bool single_place = false;    ///< there is nothing to choose, and places do not count what they have
  bool has_devices = false;     ///< places beside those of the host
  bool announces_uses = false;  ///< submissions say which blocks they will use
  bool times_tasks = false;     ///< of the host: somebody learns from it
};

/// Validation sees the uses that pass through acquire: with it no run has a single space. Pure.
run_mode mode_of_run(const place_plan& plan, const run_conditions& conditions);

}  // namespace tessera::schedule
