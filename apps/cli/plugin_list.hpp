#pragma once
// Everything that is known of the plugins of a configuration.
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"
#include "core/runtime/device_role.hpp"

namespace tessera::cli {

struct listed_space {
  std::string name, kind;
  std::uint64_t bytes = 0;  ///< 0: unknown
  std::int32_t numa_node = -1;
};

struct listed_device {
  std::string name, description, device_class;
  std::vector<listed_space> spaces;
  device_role role;
};

struct listed_plugin {
  plugin::registry::opened_plugin details;
  bool opened = false;
  std::vector<listed_device> devices;  ///< of an opened one
};

struct plugin_list {
  std::vector<std::string> directories;
  std::vector<plugin::file_report> files;  ///< in the order in which they were looked at
  std::vector<listed_plugin> plugins;      ///< sound ones
  std::optional<error> failure;            ///< why the configuration's plugins cannot be opened together
};

/// Looks at every file, then opens what is wanted as far as that goes. Throws only for directories that are no absolute
/// paths.
plugin_list list_plugins(const plugin::registry_options& options);

std::string to_text(const plugin_list& found);
/// Keys: docs/commands/plugins.md.
std::string to_json(const plugin_list& found);

}  // namespace tessera::cli
