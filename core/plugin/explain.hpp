#pragma once
// A plugin's options as a table for people.
#include <string>
#include <vector>

#include "core/plugin/option.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::plugin {

/// One paragraph per option: name, type, range or choices, default, and its sentence; aligned for a terminal. Says so
/// when there are none.
std::string explain(const std::vector<option_schema>& schema);

/// The same under a heading with the plugin's name, version, kind, vendor, ABI, file and TOML table.
std::string explain(const registry::opened_plugin& plugin);

}  // namespace tessera::plugin
