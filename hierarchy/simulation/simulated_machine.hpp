#pragma once
// From a description to a machine that a runtime can be started on.
#include <memory>

#include "core/runtime/machine.hpp"
#include "hierarchy/simulation/device_model.hpp"

namespace tessera::hierarchy {

/// A machine that does not exist, and what happens in it. A runtime on it schedules as on a real one, for the thread
/// that made it alone; blocks have no bytes, so host views and functions of the program must not look at them
/// (functions that are submitted are not called), and every fence takes no longer than it takes to think.
struct simulated_machine {
  std::shared_ptr<device_model> model;
  tessera::machine machine;
};

/// @param settings  of the runtime: placement, window, eviction. workers 0: one per core that is described. Times are
/// learnt
///                  within the run and not kept.
/// @param learnt    measurements of host operations to use instead of the description's speeds
/// Throws tessera::error (configuration).
simulated_machine build_machine(const machine_description& description, config::runtime_settings settings,
                                std::vector<placement::history_cell> learnt = {});

}  // namespace tessera::hierarchy
