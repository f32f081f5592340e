#pragma once
// The machine that a runtime is started on: its settings, plugins and locations, to be looked at or changed before.
#include <filesystem>

#include "core/config/document.hpp"
#include "core/location/tree.hpp"
#include "core/plugin/registry.hpp"
#include "core/runtime/machine.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "tessera/detail/array.hpp"
#include "tessera/detail/recording.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {

/// Finds the machine and opens its plugins, without starting a runtime. Throws tessera::error (configuration, plugin).
machine find_machine(const start_options& start = {});

/// The tree that a configuration file describes, on the devices that a runtime was started with: for
/// location_model::arrange, after the file has changed. Of the file only [topology] and the declarations of locations
/// count; the environment stands above them as at the start. Throws tessera::error (configuration) with the place in
/// the file.
location::tree read_tree(const runtime& on, const std::filesystem::path& file);

}  // namespace tessera
