#include "hierarchy/machine/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::hierarchy {
namespace {

std::string one_of(std::string_view what, const std::vector<std::string>& names) {
  return fmt::format("{} {}", what, fmt::join(names, ", "));
}

/// A device's location by any of its names: that of its location, the runtime's ("sim0"), its own ("fast").
std::optional<std::string> location_of_device(const std::string& name, const location::tree& tree,
                                              std::span<const found_device> devices, const std::string& where) {
  std::vector<std::string> found;
  for (const location::node_id id : tree.subtree(tree.root())) {
    const location::properties& is = tree.at(id).properties;
    if (is.kind != location::kind::worker || !is.space || is.space->device >= devices.size()) continue;
    const found_device& device = devices[is.space->device];
    if (device.device_class != TSR_DEVICE_CPU && (device.name == name || device.description == name))
      found.push_back(is.name);
  }
  if (found.size() > 1)
    throw error(error_kind::configuration,
                fmt::format("runtime.detached names '{}', and several devices are called so", name), where,
                one_of("they are", found));
  if (found.empty()) return std::nullopt;
  return found.front();
}

}  // namespace

void check_layers(const config::document& configuration, const std::vector<std::string>& opened) {
  for (const std::string& pair : configuration.runtime().layers) {
    const std::string inner = pair.substr(pair.find(':') + 1);
    if (std::ranges::count(opened, inner) != 0 || std::ranges::count(configuration.runtime().plugins, inner + "?") != 0)
      continue;
    const std::string near = suggest(inner, opened);
    throw error(error_kind::configuration,
                fmt::format("runtime.layers has \"{}\", and the plugin '{}' is not opened", pair, inner),
                configuration.origin("runtime.layers"),
                near.empty()
                    ? fmt::format("add \"{}\" to runtime.plugins, or wrap one of: {}", inner, fmt::join(opened, ", "))
                    : fmt::format("did you mean \"{}:{}\"?", pair.substr(0, pair.find(':')), near));
  }
}

std::vector<std::string> detached_locations(const config::document& configuration, const location::tree& tree,
                                            std::span<const found_device> devices) {
  const std::string where = configuration.origin("runtime.detached");
  std::vector<std::string> names;  // of devices
  const auto can_leave = [&](location::node_id id) {
    const location::properties& is = tree.at(id).properties;
    return is.kind == location::kind::worker && is.space && is.space->device < devices.size() &&
           devices[is.space->device].device_class != TSR_DEVICE_CPU &&
           devices[is.space->device].device_class != TSR_DEVICE_STORAGE;
  };
  for (const location::node_id id : tree.subtree(tree.root()))
    if (can_leave(id)) {
      names.push_back(tree.at(id).properties.name);
      if (const std::string& own = devices[tree.at(id).properties.space->device].description; own != names.back())
        names.push_back(own);
    }
  const std::string all =
      names.empty() ? "this machine has no devices" : fmt::format("the devices are {}", fmt::join(names, ", "));
  std::vector<std::string> locations;
  for (const std::string& given : configuration.runtime().detached) {
    auto found = tree.find(given);
    std::string name = given;
    if (!found)
      if (const auto other = location_of_device(given, tree, devices, where)) found = tree.find(name = *other);
    if (!found || !tree.attached(*found)) {
      const std::string near = suggest(name, names);
      throw error(error_kind::configuration,
                  fmt::format("runtime.detached names '{}', and there is no such location", name), where,
                  near.empty() ? all : fmt::format("did you mean '{}'?", near));
    }
    const std::vector<location::node_id> below = tree.subtree(*found);
    if (std::ranges::none_of(below, can_leave))
      throw error(error_kind::configuration, fmt::format("runtime.detached names '{}', where no device is", name),
                  where, all);
    locations.push_back(std::move(name));
  }
  return locations;
}

std::vector<std::string> installed_plugins(const std::vector<plugin::file_report>& files) {
  std::vector<std::string> names;
  for (const plugin::file_report& file : files)
    if (!file.name.empty() && std::ranges::count(names, file.name) == 0) names.push_back(file.name);
  return names;
}

}  // namespace tessera::hierarchy
