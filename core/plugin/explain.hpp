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

/// The same as JSON; keys: docs/commands/plugins.md.
std::string explain_json(const registry::opened_plugin& plugin);

/// One option as a plugin is, or would be, opened with.
struct explained_option {
  std::string name;   ///< "device[1].memory"
  std::string value;  ///< as one would write it in TOML; "(none)" where nothing is given and there is no default
  bool is_default = true;
  std::string where;  ///< the place of a given value; "default"
};

/// Checks the values as check_options does, and lists every option of the schema: those inside arrays for each table
/// that exists.
std::vector<explained_option> explain_options(const std::string& plugin, const std::vector<option_schema>& schema,
                                              const std::vector<raw_option>& values);

}  // namespace tessera::plugin
