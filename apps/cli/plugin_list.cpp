#include "apps/cli/plugin_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/units.hpp"

namespace tessera::cli {
namespace {

using state = plugin::file_report::state;

const char* word_of(state outcome) {
  switch (outcome) {
    case state::opened:
      return "opened";
    case state::unavailable:
      return "unavailable";
    case state::not_wanted:
      return "not wanted";
    case state::refused:
      return "refused";
    case state::available:
      return "available";
    case state::hangs:
      return "hangs";
    case state::shadowed:
      return "shadowed";
  }
  return "?";
}

const char* word_of_space(tsr_space_kind kind) {
  switch (kind) {
    case TSR_SPACE_HOST:
      return "host";
    case TSR_SPACE_PINNED:
      return "pinned";
    case TSR_SPACE_DEVICE:
      return "device";
    case TSR_SPACE_MANAGED:
      return "managed";
    case TSR_SPACE_STORAGE:
      return "storage";
    default:
      return "unknown";
  }
}

const char* word_of_class(tsr_device_class what) {
  switch (what) {
    case TSR_DEVICE_CPU:
      return "cpu";
    case TSR_DEVICE_GPU:
      return "gpu";
    case TSR_DEVICE_ACCELERATOR:
      return "accelerator";
    case TSR_DEVICE_STORAGE:
      return "storage";
    default:
      return "unknown";
  }
}

listed_device listed(const plugin::device& device) {
  const tsr_device_desc& description = device.description();
  // A field of fixed size: a plugin may fill it to the last byte.
  listed_device made{device.name(),
                     std::string(description.name, strnlen(description.name, sizeof description.name)),
                     word_of_class(description.device_class),
                     {},
                     role_of(device)};
  for (const plugin::space& space : device.spaces())
    made.spaces.push_back(
        {space.name, word_of_space(space.description.kind), space.description.bytes, space.description.numa_node});
  return made;
}

/// A report of the registry replaces the survey's of the same file, when it says more.
void merge(std::vector<plugin::file_report>& files, const plugin::file_report& later) {
  const auto same = std::ranges::find(files, later.path, &plugin::file_report::path);
  if (same == files.end())
    files.push_back(later);
  else if (later.outcome != state::not_wanted)
    *same = later;
}

void open_wanted(const plugin::registry_options& options, plugin_list& found) {
  plugin::registry_options lenient = options;  // one plugin that cannot be opened does not hide the others
  for (std::string& name : lenient.wanted)
    if (!name.ends_with('?')) name += '?';
  const plugin::registry opened(lenient);
  for (const plugin::file_report& file : opened.files()) merge(found.files, file);
  for (const auto& one : opened.plugins()) {
    const auto same = std::ranges::find(found.plugins, one.path, [](const listed_plugin& p) { return p.details.path; });
    listed_plugin& entry = same != found.plugins.end() ? *same : found.plugins.emplace_back();
    entry.details = one;
    entry.opened = true;
    for (const auto& device : opened.devices())
      if (device->plugin_name() == one.name) entry.devices.push_back(listed(*device));
  }
}

}  // namespace

plugin_list list_plugins(const plugin::registry_options& options) {
  plugin_list found;
  for (const auto& directory : options.directories) found.directories.push_back(directory.string());
  found.files = plugin::registry::survey(options);
  for (const plugin::file_report& file : found.files) {
    if (file.outcome != state::available && file.outcome != state::not_wanted && file.outcome != state::unavailable &&
        file.outcome != state::shadowed)
      continue;
    if (file.name.empty()) continue;  // a directory that is not there
    try {
      found.plugins.push_back({plugin::registry::describe(options, file.path.string()), false, {}});
    } catch (const error&) {
      // Not looked into, for a reason that its line among the files gives.
    }
  }
  // What does not answer a probe is not asked to open; the command would stand still with it.
  plugin::registry_options answering = options;
  for (const plugin::file_report& file : found.files) {
    if (file.outcome != state::hangs) continue;
    const auto names = [&](std::string wanted) {
      if (wanted.ends_with('?')) wanted.pop_back();
      return wanted == file.name || wanted == file.path.string();
    };
    if (std::erase_if(answering.wanted, names) != 0)
      found.failure = error(error_kind::plugin, file.reason, file.path.string(), "take it out of runtime.plugins");
  }
  try {
    open_wanted(answering, found);
  } catch (const error& e) {
    found.failure = e;
    return found;
  }
  try {
    const plugin::registry strict(answering);
  } catch (const error& e) {
    found.failure = e;
  }
  return found;
}

std::string to_text(const plugin_list& found) {
  std::string text;
  for (const listed_plugin& plugin : found.plugins) {
    if (!plugin.opened) continue;
    text += fmt::format("{} {}: {} plugin by {}, ABI {}.{}\n", plugin.details.name, plugin.details.version,
                        plugin.details.kind, plugin.details.vendor, plugin.details.abi_major, plugin.details.abi_minor);
    for (const listed_device& device : plugin.devices) {
      text += fmt::format("  {}  {}, {}\n", device.name, device.device_class, device.description);
      for (const listed_space& space : device.spaces)
        text += fmt::format("    {}  {} memory{}{}\n", space.name, space.kind,
                            space.bytes == 0 ? "" : ", " + format_bytes(static_cast<double>(space.bytes)),
                            space.numa_node < 0 ? "" : fmt::format(", NUMA node {}", space.numa_node));
      text += fmt::format("    {}\n", to_text(device.role));
    }
  }
  text += "Files looked at:\n";
  for (const plugin::file_report& file : found.files)
    text += fmt::format("  {:<11}  {}{}{}\n", word_of(file.outcome), file.path.string(),
                        file.reason.empty() ? "" : ": ", file.reason);
  if (found.files.empty()) text += found.directories.empty() ? "  none: no plugin directory exists\n" : "  none\n";
  return text;
}

namespace {

nlohmann::ordered_json operations_json(const device_role& role) {
  auto json = nlohmann::ordered_json::array();
  for (const offered_operation& one : role.operations) {
    auto types = nlohmann::ordered_json::array();
    for (const element_type type : one.types) types.push_back(name_of(type));
    json.push_back({{"name", one.name}, {"types", types}});
  }
  return json;
}

}  // namespace

std::string to_json(const plugin_list& found) {
  nlohmann::ordered_json json;
  json["directories"] = found.directories;
  json["files"] = nlohmann::ordered_json::array();
  for (const plugin::file_report& file : found.files)
    json["files"].push_back({{"path", file.path.string()},
                             {"outcome", word_of(file.outcome)},
                             {"name", file.name},
                             {"reason", file.reason},
                             {"instead", file.outcome == state::shadowed ? nlohmann::ordered_json(file.instead.string())
                                                                         : nlohmann::ordered_json()}});
  json["plugins"] = nlohmann::ordered_json::array();
  for (const listed_plugin& plugin : found.plugins) {
    auto devices = nlohmann::ordered_json::array();
    for (const listed_device& device : plugin.devices) {
      auto spaces = nlohmann::ordered_json::array();
      for (const listed_space& space : device.spaces)
        spaces.push_back(
            {{"name", space.name}, {"kind", space.kind}, {"bytes", space.bytes}, {"numa_node", space.numa_node}});
      devices.push_back({{"name", device.name},
                         {"class", device.device_class},
                         {"description", device.description},
                         {"spaces", spaces},
                         {"runs_tasks", device.role.runs_tasks},
                         {"why_not", device.role.why_not},
                         {"operations", operations_json(device.role)},
                         {"compiles_kernels", device.role.compiles_kernels},
                         {"loads_kernels", device.role.loads_kernels}});
    }
    json["plugins"].push_back({{"name", plugin.details.name},
                               {"vendor", plugin.details.vendor},
                               {"version", plugin.details.version},
                               {"build", plugin.details.build},
                               {"abi", fmt::format("{}.{}", plugin.details.abi_major, plugin.details.abi_minor)},
                               {"kind", plugin.details.kind},
                               {"path", plugin.details.path.string()},
                               {"opened", plugin.opened},
                               {"devices", devices}});
  }
  json["failure"] = found.failure ? nlohmann::ordered_json(found.failure->what()) : nlohmann::ordered_json();
  // Names come from plugins: text that is not UTF-8 is replaced, not thrown at the user.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::cli
