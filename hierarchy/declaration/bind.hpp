#pragma once
// From declarations and a discovered tree to the declared tree.
#include <span>
#include <string>
#include <vector>

#include "core/config/document.hpp"
#include "core/location/tree.hpp"
#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

/// Binds every declared location to a device, host memory or cores of the discovered tree, each the first one that fits
/// and is free, in the order of the declarations; then applies the hierarchy. The result's root is the machine. `notes`
/// receives what the user should be told. Throws tessera::error (kind configuration) at the declaration's place:
/// unknown types and names, names used twice, what cannot be bound (what was asked for, what there is), more memory
/// than there is, a second parent, cycles, and workers without memory above them.
location::tree declared_tree(const config::declarations& declared, const location::tree& discovered,
                             std::span<const found_device> devices, std::vector<std::string>& notes);

/// The declarations of a configuration: those of the CSV file that it names, else those of its TOML files.
config::declarations declarations_of(const config::document& configuration, std::vector<std::string>& notes);

}  // namespace tessera::hierarchy
