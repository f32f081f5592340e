#pragma once
// From a configuration to a machine that a runtime can be started on.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/config/document.hpp"
#include "core/plugin/registry.hpp"
#include "core/runtime/machine.hpp"

namespace tessera::hierarchy {

/// Receives log lines of plugins and of the assembly. level: 0 debug, 1 info, 2 warning. Any thread.
using log_function = std::function<void(int level, const std::string& line)>;

/// Directories in which plugins are looked for when the configuration names none: tessera/plugins beside the library,
/// then the one of the install prefix; those that exist.
std::vector<std::filesystem::path> default_plugin_directories();

/// What a registry is to do, from the configuration: directories, wanted plugins, their options and checksums.
plugin::registry_options registry_options_of(const config::document& configuration, std::vector<std::uint64_t> cpu_mask,
                                             log_function log = {});

/// Opens plugins, discovers, applies declarations and resolves the number of workers. Throws tessera::error: kind
/// configuration for declarations that cannot be bound, unknown tables of plugins and a machine without host memory;
/// kind plugin for a wanted plugin that cannot be used.
machine assemble(const config::document& configuration, log_function log = {});

}  // namespace tessera::hierarchy
