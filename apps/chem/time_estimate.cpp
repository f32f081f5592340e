#include "apps/chem/time_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

constexpr double integrals_per_second = 1.4e7;  // of a core: measured with libint2, cc-pVDZ
constexpr const char* iteration_name = "CCSD, an iteration";
constexpr double usual_iterations = 12;  // of fields, and of coupled cluster

using sial::program_estimate;
using sial::statement_estimate;

work_estimate work_of_program(const program_estimate& e, const std::string& name) {
  work_estimate work{name, e.contractions, 0, 1, e.fetched_bytes, 1};
  for (const statement_estimate& s : e.executions)
    if (s.name == "compute_integral_batch") {
      work.integrals += s.elements;
      work.integrals_parallel = std::max(work.integrals_parallel, s.parallel);
    }
  return work;
}

/// What the second does beyond the first.
work_estimate difference(const work_estimate& first, const work_estimate& second, const std::string& name) {
  const auto place_of = [](const statement_estimate& s) {
    return std::tuple(s.where.file, s.where.line, s.where.column);
  };
  std::map<decltype(place_of({})), const statement_estimate*> before;
  for (const statement_estimate& s : first.contractions) before[place_of(s)] = &s;
  work_estimate more = second;
  more.name = name;
  for (statement_estimate& s : more.contractions)
    if (const auto found = before.find(place_of(s)); found != before.end()) {
      s.times -= found->second->times;
      s.flops -= found->second->flops;
    }
  more.integrals -= first.integrals;
  more.fetched_bytes -= first.fetched_bytes;
  return more;
}

/// Seconds of operations at one place, one after the other.
double seconds_of(const statement_estimate& s, const hierarchy::described_speed& speed) {
  if (s.flops <= 0 || s.times <= 0) return 0;
  const double size = std::cbrt(s.flops / s.times / 2);
  const double share = speed.efficiency[static_cast<std::size_t>(hierarchy::timed_operation::gemm)].at(size);
  return s.flops / (speed.peak_f64 * share) + s.times * 1e-9 * static_cast<double>(speed.overhead_ns);
}

}  // namespace

double work_estimate::flops() const {
  double all = 0;
  for (const statement_estimate& s : contractions) all += s.flops;
  return all;
}

described_cluster cluster_of(const chem_options& o) {
  described_cluster on{hierarchy::read_machine(o.machine), static_cast<double>(o.nodes), 0};
  if (o.interconnect.empty()) return on;
  const std::optional<double> rate = parse_rate(o.interconnect, rate_of::bytes);
  if (rate && o.interconnect.find_first_of("Bb") == std::string::npos)
    throw error(error_kind::usage, fmt::format("'{}' has no unit", o.interconnect), "--interconnect",
                fmt::format("such as 25GB/s; {}B/s would be bytes in a second", o.interconnect));
  if (!rate || !(*rate > 0))
    throw error(error_kind::usage, fmt::format("'{}' is no rate of bytes", o.interconnect), "--interconnect",
                "such as 25GB/s");
  on.bandwidth = *rate;
  return on;
}

time_estimate time_of(const work_estimate& part, const described_cluster& on) {
  const double cores = on.nodes * on.node.host.domains * on.node.host.cores;
  time_estimate time;
  time.compute = part.integrals / integrals_per_second / std::min(cores, part.integrals_parallel);
  if (on.nodes > 1 && on.bandwidth > 0)  // a block is on another node unless by chance
    time.move = part.fetched_bytes * (1 - 1 / on.nodes) / (on.nodes * on.bandwidth);
  if (on.node.devices.empty()) {
    for (const statement_estimate& s : part.contractions)
      time.compute += seconds_of(s, on.node.host.core) / std::min(cores, s.parallel);
  } else {
    const hierarchy::described_device& device = on.node.devices.front();
    const double devices = on.nodes * device.count;
    for (const statement_estimate& s : part.contractions)
      time.compute += seconds_of(s, device.speed) / std::min(devices * device.kernels, s.parallel);
    for (const hierarchy::described_link& link : on.node.links)
      if ((link.from == "host" && link.to == device.name) || (link.to == "host" && link.from == device.name))
        time.move = std::max(time.move, part.fetched_bytes / (devices * link.bandwidth));
  }
  time.compute *= part.times;
  time.move *= part.times;
  return time;
}

std::vector<work_estimate> work_of(const problem& p, const memory_plan& plan, const sial::correlation_settings& how,
                                   const chemistry::scf_settings& scf) {
  const chemistry::scf_memory needs = chemistry::memory_of_scf(*p.over, scf);
  const double all = needs.integrals / sizeof(double), kept = static_cast<double>(plan.kept_integrals) / sizeof(double);
  std::vector<work_estimate> parts;
  work_estimate field;
  field.name = "SCF";
  field.integrals = all + (usual_iterations - 1) * (all - kept);
  field.integrals_parallel = static_cast<double>(p.over->shells()) * static_cast<double>(p.over->shells() + 1) / 2;
  parts.push_back(field);
  if (!p.method) return parts;
  sial::correlation_settings once = how, twice = how;
  once.max_iterations = 1;
  twice.max_iterations = 2;
  once.orbitals = twice.orbitals = plan.orbitals;
  once.direct_ladder = twice.direct_ladder = plan.direct_ladder;
  once.programs.workers = twice.programs.workers = 1;
  const chemistry::scf_result shape = sial::unknown_field(
      p.of, p.kind, p.over->functions(), chemistry::independent_functions(*p.over, scf.linear_dependence));
  const std::vector<program_estimate> first = sial::estimate_correlation(*p.over, shape, once);
  if (*p.method == sial::correlation_method::mp2) {
    parts.push_back(work_of_program(first.front(), "MP2"));
    return parts;
  }
  const std::vector<program_estimate> second = sial::estimate_correlation(*p.over, shape, twice);
  const work_estimate one = work_of_program(first.front(), ""), two = work_of_program(second.front(), "");
  work_estimate iteration = difference(one, two, iteration_name);
  parts.push_back(difference(iteration, one, "transformation"));
  parts.push_back(iteration);
  iteration.name = fmt::format("CCSD, {} iterations", usual_iterations);
  iteration.times = usual_iterations;
  parts.push_back(iteration);
  if (first.size() > 1) {
    parts.push_back(work_of_program(first.back(), "(T)"));
    parts.back().is_bound = first.back().flops_are_most();
  }
  return parts;
}

void tell_work(const std::vector<work_estimate>& parts, const chem_options& o, report& to, const journal& told) {
  std::optional<described_cluster> on;
  if (!o.machine.empty()) on = cluster_of(o);
  auto rows = nlohmann::ordered_json::array();
  double all = 0;
  told.line("work");
  if (std::ranges::any_of(parts, [](const work_estimate& p) { return p.name == iteration_name && p.flops() <= 0; }))
    told.line("  too many blocks to walk through: what follows is a bound; longer segments (--segments) have fewer");
  for (const work_estimate& part : parts) {
    std::string text = fmt::format("{:.3g} GFLOP in contractions, {:.3g} million integrals",
                                   1e-9 * part.times * part.flops(), 1e-6 * part.times * part.integrals);
    if (part.is_bound) text = "at most " + text + ", too many blocks to look at each: longer segments have fewer";
    nlohmann::ordered_json row{{"part", part.name},
                               {"bound", part.is_bound},
                               {"flops", part.times * part.flops()},
                               {"integrals", part.times * part.integrals},
                               {"fetched_bytes", part.times * part.fetched_bytes}};
    if (on) {
      const time_estimate time = time_of(part, *on);
      text += fmt::format("; {} ({} computing, {} moving blocks)", format_seconds(time.seconds()),
                          format_seconds(time.compute), format_seconds(time.move));
      row["seconds"] = time.seconds();
      row["compute_seconds"] = time.compute;
      row["move_seconds"] = time.move;
      if (part.name != iteration_name) all += time.seconds();  // it is in the iterations
    }
    told.line("  {:<20} {}", part.name, text);
    rows.push_back(row);
  }
  to.note("work", rows);
  if (!on) return;
  const std::string where = o.nodes > 1 ? fmt::format("{} x {}", o.nodes, on->node.name) : on->node.name;
  const std::string line = fmt::format("{} on {}; estimated, not measured", format_seconds(all), where);
  told.line("  {:<20} {}", "all of it", line);
  to.add("estimated_seconds", "expected time", line, all);
}

}  // namespace tessera::apps
