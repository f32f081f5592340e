#include "apps/chem/memory_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>

#include "apps/chem/time_estimate.hpp"
#include "apps/common/process_memory.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "hierarchy/discovery/memory_limits.hpp"
#include "languages/sial/estimate/text.hpp"

namespace tessera::apps {
namespace {

constexpr double mebi = 1024.0 * 1024.0;
// Measured: the runtime with its plugins and threads, and what each worker has beside its blocks.
constexpr double of_runtime = 12 * mebi, of_disk = 8 * mebi, of_worker = 6 * mebi;
/// Room between blocks of different sizes that cannot be used: where it must be enough, where the disk takes what is
/// too much, and where nothing limits it.
constexpr double waste = 1.15, limited_waste = 1.15, unlimited_waste = 1.35;
constexpr double spare = 1.1;              // waiting blocks of a worker that gives most of them up
constexpr double pinned = 3.5;             // blocks that cannot leave lie between those that come and go
constexpr double most_kept = 1024 * mebi;  // of SCF's integrals

/// Lengths of segments that are tried one after the other: functions, occupied and virtual orbitals.
constexpr std::array<sial::segment_lengths, 4> lengths{{{24, 12, 24}, {16, 8, 16}, {12, 6, 12}, {8, 4, 8}}};

/// A size that can be given as an option, in MiB, rounded up.
std::string option_size(double bytes) {
  return fmt::format("{}MiB", static_cast<std::int64_t>(std::ceil(bytes / mebi)));
}

/// A calculation whose segments and number of workers are tried.
class planner {
 public:
  planner(const problem& p, const chemistry::scf_settings& scf, const sial::correlation_settings& how,
          const memory_room& room)
      : m_problem(p), m_how(how), m_room(room), m_scf(chemistry::memory_of_scf(*p.over, scf)) {
    m_before =
        memory_of_this_process().now + of_runtime + (p.method && (room.process != 0 || room.has_disk) ? of_disk : 0);
    if (p.method)
      m_field = sial::unknown_field(p.of, p.kind, p.over->functions(),
                                    chemistry::independent_functions(*p.over, scf.linear_dependence));
  }

  memory_plan with(const sial::orbital_choice& orbitals, bool direct_ladder, unsigned workers) const {
    memory_plan plan;
    plan.before = m_before;
    plan.orbitals = orbitals;
    plan.direct_ladder = direct_ladder;
    plan.stages.push_back({"SCF", m_scf.matrices});
    if (m_problem.method) add_programs(plan, workers);
    double beside = 0;
    for (const stage_needs& stage : programs_of(plan)) beside = std::max(beside, stage.beside);
    const bool is_limited = m_room.process != 0;
    const double left = is_limited ? m_room.process - plan.before : m_room.blocks;
    const double limit = is_limited ? std::min(m_room.blocks, left - beside) : m_room.blocks;
    if (m_scf.matrices > left)
      refuse(plan, fmt::format("SCF has matrices of {}, and there is room for {}", format_bytes(m_scf.matrices),
                               format_bytes(std::max(left, 0.0))));
    keep_integrals(plan, left - m_scf.matrices);
    let_wait(plan, workers, 2);
    if (std::ranges::any_of(programs_of(plan), [&](const stage_needs& s) { return s.blocks() * waste > limit; }))
      let_wait(plan, workers, 1);
    for (stage_needs& stage : programs_of(plan)) place(plan, stage, limit);
    if (plan.on_disk() > 0) plan.held = held_by_one(plan, workers, limit);
    if (!m_problem.method || !plan.fits) return plan;
    if (!is_limited) {
      const auto is_tight = [&](const stage_needs& s) { return unlimited_waste * s.blocks() > limit; };
      if (!m_room.has_disk && std::ranges::any_of(programs_of(plan), is_tight)) plan.disk_path = m_room.disk_path;
      return plan;
    }
    plan.host_limit = 0;
    for (stage_needs& stage : programs_of(plan)) {
      stage.resident = std::min(limit, limited_waste * stage.blocks());
      plan.host_limit = std::max(plan.host_limit, stage.resident);
    }
    if (!m_room.has_disk) plan.disk_path = m_room.disk_path;  // also where all should fit: room may be lost
    return plan;
  }

 private:
  static std::span<stage_needs> programs_of(memory_plan& plan) { return std::span(plan.stages).subspan(1); }

  void add_programs(memory_plan& plan, unsigned workers) const {
    sial::correlation_settings how = m_how;
    how.orbitals = plan.orbitals;
    how.direct_ladder = plan.direct_ladder;
    how.programs.workers = workers;
    plan.programs = sial::estimate_correlation(*m_problem.over, m_field, how);
    for (const sial::program_estimate& e : plan.programs) {
      stage_needs needs{e.program, m_scf.result + workers * (of_worker + m_problem.over->engine_bytes())};
      for (const sial::array_kind kind : {sial::array_kind::fixed, sial::array_kind::contiguous_local})
        needs.beside += e.kinds[static_cast<std::size_t>(kind)].in_all.bytes;
      needs.own = workers * e.private_room();
      needs.own_least = workers * std::min(e.private_room(), spare * e.private_at_once);
      needs.in_hand = workers * e.hand_room;
      needs.shared = std::max(e.shared_at_once.room + e.kept_before.room, needs.in_hand);
      needs.flops = e.flops();
      plan.stages.push_back(needs);
    }
  }

  /// Workers have so many times what is alive at once: beyond it, blocks that wait for others of their size give their
  /// memory up.
  static void let_wait(memory_plan& plan, unsigned workers, double times) {
    double most = 0;
    for (const stage_needs& stage : programs_of(plan)) most = std::max(most, times * stage.own_least);
    plan.of_worker = most / workers;
    for (stage_needs& stage : programs_of(plan)) stage.own = std::min(stage.own, most);
  }

  /// A worker may hold a part of what is left beside the blocks that cannot leave.
  static double held_by_one(memory_plan& plan, unsigned workers, double limit) {
    double most = limit;
    for (const stage_needs& stage : programs_of(plan))
      most = std::min(most, stage.in_hand + (limit - waste * stage.least()) / 8);
    return std::max(most, 0.0) / workers;
  }

  void keep_integrals(memory_plan& plan, double room) const {
    const double kept = std::clamp(room, 0.0, std::min(m_scf.integrals, most_kept));
    plan.kept_integrals = static_cast<std::size_t>(kept);
    plan.stages.front().kept = kept;
    if (kept < m_scf.integrals)
      plan.choices.push_back(fmt::format("SCF keeps {} of {} of integrals, and computes the others in each iteration",
                                         format_bytes(kept), format_bytes(m_scf.integrals)));
  }

  static void refuse(memory_plan& plan, const std::string& why) {
    plan.fits = false;
    if (plan.refusal.empty()) plan.refusal = why;
  }

  void place(memory_plan& plan, stage_needs& stage, double limit) const {
    stage.resident = std::min(limit, unlimited_waste * stage.blocks());
    if (stage.blocks() * waste <= limit) return;
    if (stage.least() * pinned > limit) {
      stage.resident = waste * stage.blocks();
      return refuse(plan, fmt::format("{} has {} of blocks that cannot leave memory, and there is room for {}",
                                      stage.name, format_bytes(stage.least()), format_bytes(std::max(limit, 0.0))));
    }
    stage.on_disk = waste * stage.blocks() - limit;
    if (m_room.has_disk) return;
    if (stage.on_disk > m_room.disk_left)
      return refuse(plan, fmt::format("{} leaves {} to a disk, and {} has {}", stage.name, format_bytes(stage.on_disk),
                                      m_room.disk_path, format_bytes(m_room.disk_left)));
    plan.disk_path = m_room.disk_path;
  }

  const problem& m_problem;
  const sial::correlation_settings& m_how;
  const memory_room& m_room;
  const chemistry::scf_memory m_scf;
  double m_before = 0;
  chemistry::scf_result m_field;
};

sial::orbital_choice with_lengths(sial::orbital_choice orbitals, const sial::segment_lengths& of) {
  orbitals.cut_into(of);
  return orbitals;
}

std::string words(const sial::orbital_choice& o) { return fmt::format("{}", fmt::join(o.lengths(), " ")); }

/// With which --memory it would fit: all of it, or as little as there can be.
double needed(const memory_plan& plan, bool with_disk) {
  double most = 0;
  for (const stage_needs& stage : plan.stages)
    most = std::max(most, stage.beside + (with_disk ? pinned * stage.least() : waste * stage.blocks()));
  return plan.before + most;
}

void add_remedies(memory_plan& plan, const planner& plans, const memory_room& room, unsigned workers,
                  const memory_plan& smallest) {
  if (room.process != 0) {
    const std::string with_disk = option_size(needed(plan, true)), all = option_size(needed(plan, false));
    if (needed(plan, true) < needed(plan, false) && with_disk != all)
      plan.remedies.push_back(fmt::format("--memory {} or more: the rest is on a disk", with_disk));
    plan.remedies.push_back(fmt::format("--memory {} or more: everything is in memory", all));
  }
  if (workers > 1 && plans.with(smallest.orbitals, smallest.direct_ladder, 1).fits)
    plan.remedies.emplace_back("--workers 1");
  if (smallest.fits) plan.remedies.push_back("--segments " + words(smallest.orbitals));
}

}  // namespace

const stage_needs& memory_plan::largest() const {
  return *std::ranges::max_element(stages, {}, &stage_needs::in_memory);
}

double memory_plan::on_disk() const { return std::ranges::max(stages, {}, &stage_needs::on_disk).on_disk; }

memory_room room_of(const chem_options& o) {
  memory_room room;
  if (!o.memory.empty()) {
    const std::optional<std::int64_t> bytes = parse_bytes(o.memory);
    if (!bytes || *bytes <= 0)
      throw error(error_kind::usage, fmt::format("'{}' is no size", o.memory), "--memory", "such as 2GiB, 500MB");
    room.process = static_cast<double>(*bytes);
  }
  const config::document machine = o.load();
  const std::uint64_t limit = machine.runtime().host_limit;
  const hierarchy::memory_bound bound = hierarchy::least_bound(hierarchy::memory_sources::of_this_process());
  room.blocks = static_cast<double>(limit != 0 ? limit : bound.for_blocks());
  room.has_disk = std::ranges::find(machine.runtime().plugins, "disk") != machine.runtime().plugins.end();
  const char* const named = ::secure_getenv("TMPDIR");
  room.disk_path = named != nullptr && *named != '\0' ? named : "/tmp";
  std::error_code failed;
  const std::filesystem::space_info disk = std::filesystem::space(room.disk_path, failed);
  if (!failed) room.disk_left = 0.9 * static_cast<double>(disk.available);
  if (!o.machine.empty()) {  // of which disks are not described
    const described_cluster on = cluster_of(o);
    const hierarchy::described_host& host = on.node.host;
    if (host.memory_bytes != 0) room.blocks = on.nodes * host.domains * static_cast<double>(host.memory_bytes);
    room.has_disk = true;
  }
  return room;
}

memory_plan plan_memory(const problem& p, const chem_options& o, const chemistry::scf_settings& scf,
                        const sial::correlation_settings& how, const memory_room& room) {
  const planner plans(p, scf, how, room);
  const unsigned workers = how.programs.workers;
  const bool may_be_direct =
      p.kind == chemistry::reference::rhf && p.method && *p.method != sial::correlation_method::mp2;
  if (o.ladder == "direct" && !may_be_direct)
    throw error(error_kind::usage, "only coupled cluster for closed shells has such a ladder", "--ladder",
                "leave it out");
  const bool direct = o.ladder == "direct";
  memory_plan first = plans.with(how.orbitals, direct, workers);
  if (first.fits) return first;
  memory_plan smallest = first;
  const auto consider = [&](const sial::orbital_choice& orbitals, bool direct_ladder) {
    memory_plan next = plans.with(orbitals, direct_ladder, workers);
    if (next.fits || needed(next, true) < needed(smallest, true)) smallest = std::move(next);
  };
  // Shorter segments need less at once, and more time. Integrals that are computed again need no room for them, and
  // most time.
  for (const bool again : {direct, true}) {
    if (smallest.fits || (again && (!may_be_direct || o.ladder == "stored"))) break;
    if (again != direct) consider(how.orbitals, again);
    for (auto of = lengths.begin(); p.method && !smallest.fits && of != lengths.end(); ++of)
      consider(with_lengths(how.orbitals, *of), again);
  }
  return_free_memory();
  const bool same_segments = words(smallest.orbitals) == words(how.orbitals);
  if (smallest.fits && (same_segments || o.segments.empty())) {
    if (!same_segments)
      smallest.choices.push_back(fmt::format("segments of {}, so that it fits", words(smallest.orbitals)));
    if (smallest.direct_ladder && !direct)
      smallest.choices.emplace_back(
          "integrals over four virtual orbitals do not fit: those over functions are computed "
          "in each iteration instead (--ladder direct)");
    return smallest;
  }
  add_remedies(first, plans, room, workers, smallest);
  return first;
}

void tell(const memory_plan& plan, const memory_room& room, report& to, const journal& told) {
  const stage_needs& most = plan.largest();
  const std::string line = fmt::format("{} at most, in {}{}", format_bytes(plan.bytes()), most.name,
                                       room.process != 0 ? ", of " + format_bytes(room.process) : "");
  to.add("planned_bytes", "memory plan", line, plan.bytes());
  told.line("memory plan      {}", line);
  told.line("  before it      {}", format_bytes(plan.before));
  auto rows = nlohmann::ordered_json::array();
  for (const stage_needs& stage : plan.stages) {
    std::string text = format_bytes(stage.in_memory());
    if (stage.blocks() != 0)
      text += fmt::format(": {} of blocks, of which {} cannot leave it; {} beside them", format_bytes(stage.blocks()),
                          format_bytes(stage.least()), format_bytes(stage.beside));
    if (stage.kept != 0) text += fmt::format(", {} of it integrals that are kept", format_bytes(stage.kept));
    if (stage.on_disk != 0) text += fmt::format("; {} go to the disk", format_bytes(stage.on_disk));
    told.line("  {:<14} {}", stage.name, text);
    rows.push_back({{"stage", stage.name},
                    {"bytes", stage.in_memory()},
                    {"block_bytes", stage.blocks()},
                    {"least_bytes", stage.least()},
                    {"in_hand_bytes", stage.in_hand},
                    {"beside_bytes", stage.beside},
                    {"kept_bytes", stage.kept},
                    {"spilled_bytes", stage.on_disk},
                    {"contraction_flops", stage.flops}});
  }
  to.note("planned_stage", most.name);
  to.note("memory_plan", rows);
  for (const std::string& choice : plan.choices) told.line("  {}", choice);
  to.note("memory_choices", plan.choices);
  if (!plan.disk_path.empty()) told.line("  what finds no room is served from the disk, in {}", plan.disk_path);
  if (plan.fits) return;
  to.add("", "does not fit", plan.refusal, nullptr);
  told.line("  it does not fit: {}", plan.refusal);
  for (const std::string& remedy : plan.remedies) told.line("    {}", remedy);
  to.note("memory_remedies", plan.remedies);
}

}  // namespace tessera::apps
