#pragma once
// What options a plugin has, without opening it.
#include <string>
#include <vector>

#include "core/plugin/option.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::plugin {

/// The options that the plugin `name` publishes, from its file: nothing is probed or opened, and no other plugin is
/// kept out of the process by it. Throws tessera::error (kind plugin) when there is none or it is refused.
std::vector<option_schema> published_options(const registry_options& options, const std::string& name);

}  // namespace tessera::plugin
