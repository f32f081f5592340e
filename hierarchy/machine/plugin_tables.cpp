#include "hierarchy/machine/plugin_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/plugin/published_options.hpp"

namespace tessera::hierarchy {
namespace {

/// Checks what is set for a plugin against what its file publishes. Returns why that could not be done, or "".
std::string check_unopened(const plugin::registry_options& with, const std::string& name) {
  std::vector<plugin::option_schema> published;
  try {
    published = plugin::published_options(with, name);
  } catch (const error& failure) {
    if (failure.kind() != error_kind::plugin) throw;
    return failure.message();
  }
  plugin::check_options(name, published, with.options(name));
  return {};
}

/// @param form  how the configuration names a plugin: "[plugin.{}]"
void require_plugin(const std::string& name, const std::string& where, const std::vector<std::string>& opened,
                    const std::vector<std::string>& installed, fmt::format_string<const std::string&> form) {
  if (const std::string near = suggest(name, opened); !near.empty())
    throw error(error_kind::configuration, fmt::format("there is no plugin '{}' among the opened ones", name), where,
                fmt::format("did you mean {}?", fmt::format(form, near)));
  if (std::ranges::count(installed, name) != 0) return;
  const std::string near = suggest(name, installed);
  throw error(error_kind::configuration, fmt::format("{}: there is no plugin '{}'", fmt::format(form, name), name),
              where,
              near.empty() ? fmt::format("the plugins are {}", fmt::join(installed, ", "))
                           : fmt::format("did you mean {}?", fmt::format(form, near)));
}

}  // namespace

void check_plugin_tables(const config::document& configuration, const plugin::registry_options& with,
                         const std::vector<std::string>& opened, const std::vector<std::string>& installed,
                         std::vector<std::string>& notes) {
  const std::vector<std::string>& wanted = configuration.runtime().plugins;
  for (const auto& [name, where] : configuration.plugins_with_values()) {
    // One that is wanted and not opened could not be looked into (`explain`), which was said.
    if (std::ranges::count(opened, name) != 0 || std::ranges::count(wanted, name) != 0) continue;
    const bool may_be_absent = std::ranges::count(wanted, name + "?") != 0;
    if (!may_be_absent) require_plugin(name, where, opened, installed, "[plugin.{}]");
    const std::string unchecked = check_unopened(with, name);
    if (may_be_absent) continue;
    notes.push_back(fmt::format("[plugin.{}] at {} is not used: '{}' is not among runtime.plugins{}", name, where, name,
                                unchecked.empty() ? "" : "; its options are not checked: " + unchecked));
  }
}

void check_checksums(const config::document& configuration, const std::vector<std::string>& opened,
                     const std::vector<std::string>& installed) {
  const std::vector<std::string>& wanted = configuration.runtime().plugins;
  for (const config::checksum& sum : configuration.checksums()) {
    const bool known = std::ranges::count(opened, sum.plugin) + std::ranges::count(installed, sum.plugin) +
                           std::ranges::count(wanted, sum.plugin) + std::ranges::count(wanted, sum.plugin + "?") !=
                       0;
    if (!known) require_plugin(sum.plugin, sum.where, opened, installed, "checksums.{}");
  }
}

}  // namespace tessera::hierarchy
