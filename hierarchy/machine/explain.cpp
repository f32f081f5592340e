#include "hierarchy/machine/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/error.hpp"
#include "core/plugin/explain.hpp"
#include "core/plugin/loaded_plugin.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "hierarchy/machine/names.hpp"
#include "hierarchy/machine/plugin_tables.hpp"

namespace tessera::hierarchy {
namespace {

using described_plugin = plugin::registry::opened_plugin;

/// The plugins and layers that would be opened, as far as their files say what they are.
std::vector<described_plugin> described_plugins(const plugin::registry_options& options,
                                                std::vector<std::string>& notes) {
  std::vector<std::string> wanted = options.wanted;
  for (const auto& [layer, inner] : options.layers)
    if (std::ranges::count(wanted, layer) == 0) wanted.push_back(layer);
  std::vector<described_plugin> found;
  for (std::string name : wanted) {
    const bool may_be_missing = name.ends_with('?');
    if (may_be_missing) name.pop_back();
    try {
      found.push_back(plugin::registry::describe(options, name));
    } catch (const error& failure) {
      if (failure.kind() != error_kind::plugin) throw;
      if (!may_be_missing)
        notes.push_back(fmt::format("the options of plugin \"{}\" are not checked: {}", name, failure.message()));
    }
  }
  return found;
}

/// Names that the files of the directories promise.
std::vector<std::string> promised_names(const plugin::registry_options& options) {
  std::vector<std::string> names;
  for (const std::filesystem::path& directory : options.directories) {
    std::error_code failed;
    for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed))
      if (std::string name = plugin::promised_name(at->path()); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<config::explained> explain(const config::document& configuration, std::vector<std::string>& notes) {
  const plugin::registry_options options = registry_options_of(configuration, {});
  const std::vector<described_plugin> plugins = described_plugins(options, notes);
  std::vector<std::string> names;
  for (const described_plugin& p : plugins) names.push_back(p.name);
  std::vector<std::string> installed = promised_names(options);
  installed.insert(installed.end(), names.begin(), names.end());
  // A plugin that could not be looked into may have a table all the same.
  for (const std::string& wanted : options.wanted) installed.push_back(wanted);
  check_plugin_tables(configuration, options, names, installed, notes);
  check_checksums(configuration, names, installed);
  if (plugins.size() >= options.wanted.size()) check_layers(configuration, names);

  std::vector<config::explained> lines = configuration.explain();
  const auto is_of = [&](const config::explained& line) {
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return line.key.starts_with("plugin." + name + "."); });
  };
  std::erase_if(lines, is_of);
  auto behind =
      std::ranges::find_if(lines, [](const config::explained& line) {  // what stands behind the keys of the schema
        return line.key.starts_with("plugin.") || line.key.starts_with("checksums.") ||
               line.key.find('.') == line.key.npos;
      });
  std::vector<config::explained> added;
  for (const described_plugin& p : plugins)
    for (plugin::explained_option& o : plugin::explain_options(p.name, p.options, options.options(p.name)))
      added.push_back({"plugin." + p.name + "." + o.name, std::move(o.value), o.is_default, std::move(o.where)});
  lines.insert(behind, added.begin(), added.end());
  return lines;
}

}  // namespace tessera::hierarchy
