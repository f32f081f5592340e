#include "apps/chem/option_memory.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <variant>

#include "core/base/units.hpp"
#include "libraries/chemistry/exchange/fcidump.hpp"

namespace tessera::apps {
namespace {

// Measured. A buffer grows by 2 MiB, and 32 MiB of them are made before anything runs.
constexpr double of_statement = 56, buffer_bytes = 2 * mebi, prepared = 32 * mebi;
constexpr double of_reading = 12;      // times the events: the timeline that is made of them, and its text
constexpr double of_slabs = 1.35;      // slabs of a device that are not full
constexpr double blocks_of_tasks = 8;  // of one extents, one after the other

struct device_memory {
  double count = 1, each = 1024 * mebi;  // as the plugin has it where nothing is said
};

/// What the configuration says of simulated devices.
double capacity_of_simulated(const config::document& machine) {
  const auto& plugins = machine.runtime().plugins;
  if (std::ranges::find(plugins, "sim") == plugins.end()) return 0;
  device_memory each;
  std::vector<std::string> names;
  double all = 0;
  for (const config::plugin_value& v : machine.plugin_values("sim")) {
    if (!v.name.starts_with("device[")) continue;
    const std::string device = v.name.substr(0, v.name.find(']'));
    if (std::ranges::find(names, device) == names.end()) {
      names.push_back(device);
      all += each.each;
    }
    if (!v.name.ends_with("].memory")) continue;
    const auto* const text = std::get_if<std::string>(&v.value);
    const auto* const number = std::get_if<std::int64_t>(&v.value);
    const std::optional<std::int64_t> bytes = text != nullptr     ? parse_bytes(*text)
                                              : number != nullptr ? std::optional(*number)
                                                                  : std::nullopt;
    if (bytes) all += static_cast<double>(*bytes) - each.each;
  }
  return names.empty() ? each.each : all;
}

}  // namespace

recording_memory recording_of(const chem_options& o, double statements, unsigned rows) {
  recording_memory r;
  r.per_byte_at_end = 1 + of_reading;
  if (o.trace.empty() && o.report.empty()) return r;
  r.events = of_statement * statements;
  r.most = std::min(1.25 * r.events + rows * buffer_bytes, static_cast<double>(o.load().runtime().trace_limit));
  return within(r, r.most, rows);
}

recording_memory within(recording_memory of, double bytes, unsigned rows) {
  if (of.most == 0) return of;
  of.most = std::max(std::min(of.most, bytes), rows * buffer_bytes);
  of.resident = std::max(std::min(of.most, prepared), std::min(of.most, of.events + rows * buffer_bytes));
  of.at_end = of_reading * std::min(of.events, of.most);
  return of;
}

fcidump_memory fcidump_of(const problem& p, const chem_options& o, std::size_t orbitals) {
  if (o.fcidump.empty()) return {};
  const auto pairs = [](double count) { return count * (count + 1) / 2; };
  const double of_functions = pairs(static_cast<double>(p.over->functions()));
  const double active = pairs(static_cast<double>(orbitals) - p.frozen - o.frozen_virtual);
  fcidump_memory m;
  const bool is_uhf = p.kind == chemistry::reference::uhf;
  const double integrals = is_uhf ? 2 * pairs(active) + active * active : pairs(active);  // of both spins, and mixed
  m.integrals = sizeof(double) * integrals;
  m.making = sizeof(double) * active * of_functions * (is_uhf ? 2 : 1) + m.integrals;
  m.text = static_cast<double>(chemistry::fcidump_line) * integrals;
  return m;
}

double device_bytes_of(const chem_options& o, double shared, double own_at_once) {
  if (o.devices == "never") return 0;
  return std::min(capacity_of_simulated(o.load()), of_slabs * (shared + blocks_of_tasks * own_at_once));
}

}  // namespace tessera::apps
