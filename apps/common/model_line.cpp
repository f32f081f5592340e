#include "apps/common/model_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/common/machine_rates.hpp"
#include "apps/common/plot.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

/// "3.93 M" of 3930000.
std::string with_prefix(double amount) {
  const char* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t k = 0;
  for (; amount >= 1000 && k + 1 < std::size(prefixes); ++k) amount /= 1000;
  return fmt::format("{:.3g} {}", amount, prefixes[k]);
}

/// "393 MB at 40.1 GB/s".
std::string amount_text(const bound& of) {
  if (of.bytes > 0) return fmt::format("{}B at {}B/s", with_prefix(of.bytes), with_prefix(of.bytes / of.seconds));
  std::string text;
  if (of.flops > 0) text = with_prefix(of.flops) + "flop";
  if (of.functions > 0) text += fmt::format("{}{}functions", text.empty() ? "" : " and ", with_prefix(of.functions));
  return text;
}

double part_of(double seconds, const least_time& least) { return seconds > 0 ? least.seconds / seconds : 0; }

nlohmann::ordered_json json_of(double seconds, const workload& did, const least_time& least) {
  double bytes = 0, flops = 0, functions = 0;
  for (const region_work& r : did.regions) bytes += r.bytes, flops += r.flops, functions += r.functions;
  auto bounds = nlohmann::ordered_json::array();
  for (const bound& b : least.bounds)
    bounds.push_back(
        {{"what", b.what}, {"seconds", b.seconds}, {"bytes", b.bytes}, {"flops", b.flops}, {"functions", b.functions}});
  return {{"seconds", least.seconds}, {"of_time", part_of(seconds, least)},
          {"bytes", bytes},           {"flops", flops},
          {"functions", functions},   {"data_bytes", did.data},
          {"bounds", bounds},         {"left_out", least.left_out}};
}

std::string page_of(double seconds, const least_time& least) {
  std::string rows;
  for (const bound& b : least.bounds)
    rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", html_escaped(b.what),
                        format_seconds(b.seconds), amount_text(b));
  return fmt::format(
      "<section>\n<h2>Time against the model</h2>\n<p class=\"quiet\">The main part took {}; its memory traffic, "
      "arithmetic and transfers alone take {} at the rates of this machine ({:.0f} %).</p>\n<table><thead><tr><th>what "
      "bounds it</th><th class=\"n\">time</th><th class=\"n\">for</th></tr></thead>\n<tbody>\n{}</tbody></table>\n"
      "</section>\n",
      format_seconds(seconds), format_seconds(least.seconds), 100 * part_of(seconds, least), rows);
}

/// The machine of a run once more, for runtimes that neither record, learn nor validate.
machine machine_like(command_options of) {
  of.set.insert(of.set.end(), {"runtime.history=off", "runtime.trace=false", "runtime.report=", "runtime.trace_file=",
                               "runtime.stats=false", "runtime.validate=false"});
  return hierarchy::assemble(of.load());
}

/// The leaves of the regions' shares that are devices with a memory of their own.
std::vector<std::string> devices_of(const runtime& of, std::span<const region_row> shares) {
  std::set<std::string> found;
  for (const region_row& row : shares)
    for (const region_share& s : row.shares)
      if (const auto node = of.tree().find(s.leaf); node && of.tree().at(*node).properties.device) {
        const auto number = *of.tree().at(*node).properties.device;
        if (of.plugins().devices()[number]->plugin_name() != "host") found.insert(s.leaf);
      }
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<link_traffic> traffic_since(const statistics& before, const runtime& of) {
  const auto bandwidth_of = [&](const std::string& space) {
    const auto node = of.tree().find(space.substr(0, space.find(':')));  // "gpu0:memory" is that of leaf gpu0
    return node ? of.tree().at(*node).properties.bandwidth : 0;
  };
  std::vector<link_traffic> found;
  for (const link_statistics& link : of.statistics().links) {
    const auto same = [&](const link_statistics& one) { return one.from == link.from && one.to == link.to; };
    const auto known = std::ranges::find_if(before.links, same);
    const std::uint64_t bytes = link.bytes - (known == before.links.end() ? 0 : known->bytes);
    if (bytes == 0) continue;
    const double a = bandwidth_of(link.from), b = bandwidth_of(link.to);
    // Between two devices there may be a link of their own, of which the tree's two numbers say nothing.
    found.push_back(
        {fmt::format("{} -> {}", link.from, link.to), static_cast<double>(bytes), a > 0 && b > 0 ? 0 : std::max(a, b)});
  }
  return found;
}

std::string model_text(double seconds, const least_time& least) {
  std::string text = fmt::format("time {}, the model {} ({:.0f} %)", format_seconds(seconds),
                                 format_seconds(least.seconds), 100 * part_of(seconds, least));
  if (!least.bounds.empty())
    text += fmt::format(": {}, {}", least.bounds.front().what, amount_text(least.bounds.front()));
  if (!least.left_out.empty()) text += fmt::format("; without {}", fmt::join(least.left_out, ", "));
  return text;
}

void add_model(report& to, session& of, double seconds, const workload& did, std::span<const region_row> shares,
               std::span<const link_traffic> links) {
  const std::vector<std::string> devices = devices_of(of.rt(), shares);
  const bool computes =
      std::ranges::any_of(did.regions, [](const region_work& r) { return r.flops > 0 || r.functions > 0; });
  const machine_rates rates =
      measure_rates({.workers = of.rt().workers(), .devices = devices, .data = did.data, .arithmetic = computes},
                    [&] { return machine_like(of.options()); });
  const least_time least = least_time_of(did, shares, rates, links);
  to.add("model", "model", model_text(seconds, least), json_of(seconds, did, least));
  of.add_to_page(page_of(seconds, least));
}

}  // namespace tessera::apps
