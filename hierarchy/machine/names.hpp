#pragma once
// Names inside values: people type them, so each is looked up, and the nearest one that exists is the hint.
#include <span>
#include <string>
#include <vector>

#include "core/config/document.hpp"
#include "core/location/tree.hpp"
#include "core/plugin/registry.hpp"
#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

/// What a layer wraps is opened, or would be where it can run. Throws tessera::error (configuration).
void check_layers(const config::document& configuration, const std::vector<std::string>& opened);

/// The locations that runtime.detached names: each has devices that can leave. A device may be called by the name of
/// its location, the runtime's name ("sim0") or its own ("fast"). Throws tessera::error (configuration).
std::vector<std::string> detached_locations(const config::document& configuration, const location::tree& tree,
                                            std::span<const found_device> devices);

/// Names of all plugins whose files were found, as far as they are known.
std::vector<std::string> installed_plugins(const std::vector<plugin::file_report>& files);

}  // namespace tessera::hierarchy
