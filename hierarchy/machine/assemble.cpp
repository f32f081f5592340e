#include "hierarchy/machine/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "hierarchy/declaration/bind.hpp"
#include "hierarchy/discovery/devices.hpp"
#include "hierarchy/discovery/topology.hpp"
#include "hierarchy/machine/host_memory.hpp"
#include "hierarchy/machine/names.hpp"
#include "hierarchy/machine/plugin_tables.hpp"
#include "hierarchy/policy/policy.hpp"

namespace tessera::hierarchy {
namespace {

std::size_t host_workers(const location::tree& tree, std::span<const found_device> devices) {
  std::size_t count = 0;
  for (const location::node_id id : tree.subtree(tree.root())) {
    const location::properties& is = tree.at(id).properties;
    count += is.kind == location::kind::worker && is.device && *is.device < devices.size() &&
             devices[*is.device].device_class == TSR_DEVICE_CPU;
  }
  return count;
}

void check_watermarks(const config::document& configuration) {
  const config::runtime_settings& settings = configuration.runtime();
  if (settings.low_watermark <= settings.high_watermark) return;
  const std::string low = configuration.origin("memory.low_watermark"),
                    high = configuration.origin("memory.high_watermark");
  throw error(error_kind::configuration,
              fmt::format("memory.low_watermark = {} is above memory.high_watermark = {}", settings.low_watermark,
                          settings.high_watermark),
              low == "default" ? high : low,
              "blocks leave a full memory above the high one, until it is down to the low one: set both");
}

}  // namespace

plugin::registry_options registry_options_of(const config::document& configuration, std::vector<std::uint64_t> cpu_mask,
                                             log_function log) {
  const config::runtime_settings& settings = configuration.runtime();
  plugin::registry_options options;
  for (const std::string& directory : settings.plugin_path) options.directories.emplace_back(directory);
  options.usual_directories = default_plugin_directories();
  if (options.directories.empty()) options.directories = options.usual_directories;
  options.wanted = settings.plugins;
  for (const config::checksum& sum : configuration.checksums()) options.sha256.emplace_back(sum.plugin, sum.sha256);
  for (const std::string& pair : settings.layers) {
    const auto colon = pair.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == pair.size())
      throw error(error_kind::configuration, "'" + pair + "' names no layer and no plugin that it wraps",
                  configuration.origin("runtime.layers"), "write \"layer:wrapped\", e.g. \"trace:sim\"");
    options.layers.emplace_back(pair.substr(0, colon), pair.substr(colon + 1));
  }
  options.cpu_mask = std::move(cpu_mask);
  options.patience = std::chrono::nanoseconds(settings.plugin_patience_ns);
  // By value: the registry may outlive the configuration.
  options.options = [configuration](const std::string& name) {
    std::vector<plugin::raw_option> values;
    for (const config::plugin_value& v : configuration.plugin_values(name))
      values.push_back({v.name, v.value, v.where});
    return values;
  };
  options.log = std::move(log);
  return options;
}

machine assemble(const config::document& configuration, log_function log) {
  // A policy that cannot be read is found now, not when the first region asks for it.
  resolve({policy_kind::runtime, {}, {}}, configuration.region().policy, configuration.origin("region.policy"));
  check_watermarks(configuration);
  const topology seen = topology::as_configured(configuration);
  const plugin::registry_options found_by = registry_options_of(configuration, seen.cpu_mask(), log);
  auto plugins = std::make_shared<plugin::registry>(found_by);
  const std::vector<found_device> devices = devices_of(*plugins);
  if (std::ranges::count(devices, tsr_device_class{TSR_DEVICE_CPU}, &found_device::device_class) == 0)
    throw error(error_kind::configuration, "no opened plugin offers host memory and host workers",
                configuration.origin("runtime.plugins"), "add \"host\" to runtime.plugins");

  const location::tree discovered = seen.tree(devices);
  machine made{configuration.runtime(), std::move(plugins), discovered, {}, std::move(log)};
  if (const config::declarations declared = declarations_of(configuration, made.notes); !declared.empty())
    made.tree = declared_tree(declared, discovered, devices, made.notes);
  const memory_sources memory = memory_sources::of_this_process();
  if (memory.address_limit != no_limit || memory.data_limit != no_limit) save_addresses();
  bound_host_memory(made, discovered, devices, min_bound(memory), configuration.origin("memory.host_limit"));
  made.region_policy = configuration.region().policy;
  made.settings.detached = detached_locations(configuration, made.tree, devices);
  std::vector<std::string> opened;
  for (const auto& p : made.plugins->plugins()) opened.push_back(p.name);
  const std::vector<std::string> installed = installed_plugins(made.plugins->files());
  check_plugin_tables(configuration, found_by, opened, installed, made.notes);
  check_checksums(configuration, opened, installed);
  check_layers(configuration, opened);

  const std::size_t cores = std::max<std::size_t>(host_workers(made.tree, devices), 1);
  if (made.settings.workers == 0) {
    made.settings.workers = static_cast<std::uint32_t>(cores);
  } else if (made.settings.workers > cores) {
    made.notes.push_back(fmt::format("{} workers share {} core{}: allowed, but each runs slower", made.settings.workers,
                                     cores, cores == 1 ? "" : "s"));
  }
  if (!seen.is_this_machine() && made.settings.bind) {
    made.settings.bind = false;
    made.notes.push_back("the topology is imagined, so workers are not bound to CPUs");
  }
  return made;
}

}  // namespace tessera::hierarchy
