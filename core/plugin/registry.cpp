#include "core/plugin/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/leak_on_purpose.hpp"
#include "core/plugin/search.hpp"
#include "core/plugin/session.hpp"

namespace tessera::plugin {
namespace {

using state = file_report::state;

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

registry::opened_plugin summary_of(const loaded_plugin& plugin) {
  return {plugin.name,
          text_of(plugin.header.vendor),
          text_of(plugin.header.version),
          text_of(plugin.header.build),
          std::string(name_of_kind(plugin.header.kind)),
          plugin.path,
          plugin.header.abi_major,
          plugin.header.abi_minor,
          plugin.options,
          "",
          {}};
}

}  // namespace

struct registry::implementation {
  explicit implementation(registry_options given)
      : options(std::move(given)), services(options.cpu_mask, options.log), files(options) {}

  /// In the reverse order of opening: a layer outlives what it wraps.
  ~implementation() {
    devices.clear();
    while (!sessions.empty()) sessions.pop_back();
    while (!layers.empty()) layers.pop_back();
  }

  std::vector<option_value> options_of(const loaded_plugin& plugin) const {
    return check_options(plugin.name, plugin.options,
                         options.options ? options.options(plugin.name) : std::vector<raw_option>{});
  }

  /// A plugin that refuses a value names it, `option "inject[0].device"`: the error with the place where the user wrote
  /// that, else the same.
  error with_place(const error& failure, const std::string& plugin) const;
  loaded_plugin wrapped(loaded_plugin plugin);
  void open(const wish& wanted);
  void open_found(loaded_plugin plugin, const std::function<void(const std::string&)>& absent);

  registry_options options;
  host services;
  search files;
  std::vector<std::unique_ptr<session>> layers, sessions;
  std::vector<std::unique_ptr<device>> devices;
  std::vector<opened_plugin> plugins;
  std::vector<operations_plugin> operations;
  std::vector<policy_plugin> policies;
  std::vector<file_report> reports;
};

error registry::implementation::with_place(const error& failure, const std::string& plugin) const {
  std::vector<std::string> names{plugin};
  for (const auto& [layer, inner] : options.layers)
    if (inner == plugin) names.push_back(layer);
  for (const std::string& name : names)
    for (const raw_option& value : options.options ? options.options(name) : std::vector<raw_option>{})
      if (failure.message().find(fmt::format("option \"{}\"", value.name)) != std::string::npos)
        return {error_kind::configuration, failure.message(), value.where,
                fmt::format("\"tessera plugins explain {}\" says what the option takes", name)};
  return failure;
}

/// The plugin behind every layer that the options put on it, the last one outermost.
loaded_plugin registry::implementation::wrapped(loaded_plugin plugin) {
  for (const auto& [layer_name, inner] : options.layers) {
    if (inner != plugin.name) continue;
    loaded_plugin layer = files.find(layer_name);
    if (layer.header.kind != TSR_PLUGIN_LAYER)
      throw error(error_kind::plugin,
                  fmt::format("plugin \"{}\" is a {} plugin and cannot be used as a layer", layer_name,
                              name_of_kind(layer.header.kind)),
                  layer.path.string(), "take it out of runtime.layers");
    auto opened = std::make_unique<session>(layer, services, options_of(layer));
    files.report(layer.path, state::opened, layer.name, fmt::format("wraps {}", plugin.name));
    plugins.push_back(summary_of(layer));
    plugin = opened->wrap(plugin);
    layers.push_back(std::move(opened));
  }
  return plugin;
}

void registry::implementation::open(const wish& wanted) {
  loaded_plugin plugin = files.find(wanted.name);
  for (const auto& other : sessions) {
    if (other->plugin().name != plugin.name) continue;  // once by name, once by path
    throw error(error_kind::configuration, fmt::format("runtime.plugins has the plugin \"{}\" twice", plugin.name),
                plugin.path.string(),
                other->plugin().path == plugin.path
                    ? "leave one of them out"
                    : fmt::format("leave one of them out; the other one is {}", other->plugin().path.string()));
  }
  const std::filesystem::path path = plugin.path;
  const std::string name = plugin.name;
  const auto absent = [&](const std::string& reason) {
    files.report(path, state::unavailable, name, reason);
    if (!wanted.optional)
      throw error(
          error_kind::plugin, fmt::format("plugin \"{}\" cannot serve this machine: {}", name, reason), path.string(),
          fmt::format("take \"{0}\" out of runtime.plugins, or write \"{0}?\" to use it only where it can run", name));
    if (options.log) options.log(0, fmt::format("plugin \"{}\" is not available: {}", name, reason));
  };
  if (plugin.header.kind == TSR_PLUGIN_LAYER)
    throw error(error_kind::plugin, fmt::format("plugin \"{}\" is a layer and does nothing by itself", name),
                path.string(), "name it, and the plugin it shall wrap, in runtime.layers");
  try {
    open_found(std::move(plugin), absent);
  } catch (const error& failure) {
    if (failure.kind() != error_kind::plugin) throw;
    if (files.outcome_of(path) == state::not_wanted) files.report(path, state::refused, name, failure.message());
    throw with_place(failure, name);
  }
}

void registry::implementation::open_found(loaded_plugin plugin, const std::function<void(const std::string&)>& absent) {
  const std::filesystem::path path = plugin.path;
  const std::string name = plugin.name;
  plugin = wrapped(std::move(plugin));
  if (const probe_result answer = probe(plugin, services.table()); answer.score == 0) return absent(answer.reason);

  opened_plugin summary = summary_of(plugin);
  summary.values = options_of(plugin);
  auto opened = std::make_unique<session>(plugin, services, summary.values);
  switch (plugin.header.kind) {
    case TSR_PLUGIN_OPERATIONS:
      operations.push_back({name, opened->handle(), services.table(), opened->operations()});
      break;
    case TSR_PLUGIN_POLICY:
      policies.push_back({name, opened->handle(), opened->policy()});
      break;
    default: {
      const std::size_t before = devices.size();
      try {
        if (opened->open_devices(devices) == 0) {
          const std::string details = take_error_details();
          return absent(details.empty() ? "it finds no device" : "it finds no device: " + details);
        }
      } catch (...) {
        devices.resize(before);
        throw;
      }
    }
  }
  sessions.push_back(std::move(opened));
  plugins.push_back(std::move(summary));
  files.report(path, state::opened, name, "");
}

registry::registry(registry_options options) : m_implementation(std::make_unique<implementation>(std::move(options))) {
  implementation& own = *m_implementation;
  const call_watch watched(own.options.patience, own.options.log);
  for (const std::string& text : own.options.wanted) {
    const wish wanted = wish_of(text);
    try {
      own.open(wanted);
    } catch (const error& failure) {
      // A plugin that may be absent may also be unfit; it is in the reports and in the log. A wrong option is the
      // user's.
      if (!wanted.optional || failure.kind() != error_kind::plugin) throw;
      const bool absent = dynamic_cast<const no_such_plugin*>(&failure) != nullptr;
      if (own.options.log)
        own.options.log(absent ? 0 : 2, fmt::format("plugin \"{}\" is left out: {}", wanted.name, failure.what()));
    }
  }
  for (const auto& opened : own.sessions) {
    try {
      opened->devices_ready();
    } catch (const error& failure) {
      throw own.with_place(failure, opened->plugin().name);
    }
  }
  own.reports = own.files.reports();
}

registry::registry(std::vector<std::unique_ptr<device>> devices, const std::string& name, const std::string& version)
    : m_implementation(std::make_unique<implementation>(registry_options{})) {
  m_implementation->devices = std::move(devices);
  m_implementation->plugins.push_back({name, "", version, "", "device", {}, TSR_ABI_MAJOR, TSR_ABI_MINOR, {}, "", {}});
}

std::string registry::opened_plugin::text_of(std::string_view option) const {
  const auto found = std::ranges::find(values, option, &option_value::name);
  return found != values.end() ? found->text : std::string();
}

registry::~registry() {
  if (m_abandoned) leak_on_purpose(std::move(m_implementation));
}

const std::vector<std::unique_ptr<device>>& registry::devices() const noexcept { return m_implementation->devices; }
const std::vector<file_report>& registry::files() const noexcept { return m_implementation->reports; }
const std::vector<registry::opened_plugin>& registry::plugins() const noexcept { return m_implementation->plugins; }
const std::vector<registry::operations_plugin>& registry::operations_tables() const noexcept {
  return m_implementation->operations;
}
const std::vector<registry::policy_plugin>& registry::policy_tables() const noexcept {
  return m_implementation->policies;
}

std::vector<file_report> registry::survey(const registry_options& options) {
  const call_watch watched(options.patience, options.log);
  search files(options);
  files.survey();
  return files.reports();
}

registry::opened_plugin registry::describe(const registry_options& options, const std::string& name) {
  const call_watch watched(options.patience, options.log);
  const loaded_plugin plugin = search(options).find(name);
  opened_plugin summary = summary_of(plugin);
  const std::optional<probe_result> answer = probe_within(plugin, options.cpu_mask, options.probe_limit);
  if (!answer)
    summary.absent = no_answer(options.probe_limit);
  else if (answer->score == 0)
    summary.absent = answer->reason;
  return summary;
}

}  // namespace tessera::plugin
