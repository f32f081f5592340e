#pragma once
// The machine that a runtime is started on: its settings, plugins and locations, to be looked at or changed before.
#include <filesystem>

#include "core/config/document.hpp"
#include "core/location/tree.hpp"
#include "core/plugin/registry.hpp"
#include "core/runtime/machine.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "tessera/runtime.hpp"

namespace tessera {

/// Finds the machine and opens its plugins, without starting a runtime. Throws tessera::error (configuration, plugin).
machine find_machine(const start_options& start = {});

}  // namespace tessera
