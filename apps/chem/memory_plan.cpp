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
#include <system_error>

#include "apps/chem/planner.hpp"
#include "apps/chem/time_estimate.hpp"
#include "apps/common/process_memory.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "hierarchy/discovery/memory_limits.hpp"
#include "languages/sial/estimate/text.hpp"

namespace tessera::apps {
namespace {

/// Lengths of segments that are tried one after the other: functions, occupied and virtual orbitals.
constexpr std::array<sial::segment_lengths, 4> lengths{{{24, 12, 24}, {16, 8, 16}, {12, 6, 12}, {8, 4, 8}}};

/// A size that can be given as an option, in MiB, rounded up.
std::string option_size(double bytes) {
  return fmt::format("{}MiB", static_cast<std::int64_t>(std::ceil(bytes / mebi)));
}

sial::orbital_choice with_lengths(sial::orbital_choice orbitals, const sial::segment_lengths& of) {
  orbitals.cut_into(of);
  return orbitals;
}

std::string words(const sial::orbital_choice& o) { return fmt::format("{}", fmt::join(o.lengths(), " ")); }

/// The choices that the options leave, in the order in which they are tried: shorter segments need less at once, and
/// more time. Integrals that are computed again need no room for them, and most time.
std::vector<plan_choice> choices_for(const problem& p, const chem_options& o, const sial::correlation_settings& how,
                                     bool with_other_segments) {
  const bool direct = o.ladder == "direct";
  const bool may_be_direct =
      p.kind == chemistry::reference::rhf && p.method && *p.method != sial::correlation_method::mp2;
  if (direct && !may_be_direct)
    throw error(error_kind::usage, "only coupled cluster for closed shells has such a ladder", "--ladder",
                "leave it out");
  std::vector<plan_choice> all;
  for (const bool again : {false, true}) {
    if (again ? !may_be_direct || o.ladder == "stored" : direct) continue;
    all.push_back({how.orbitals, again, how.programs.workers});
    if (!p.method || !with_other_segments) continue;
    for (const sial::segment_lengths& of : lengths)
      all.push_back({with_lengths(how.orbitals, of), again, how.programs.workers});
  }
  return all;
}

/// The first choice that fits, or the first.
memory_plan best_of(const planner& plans, const std::vector<plan_choice>& choices, double process) {
  std::optional<memory_plan> first;
  for (const plan_choice& what : choices) {
    memory_plan next = plans.with(what, process);
    if (next.fits) return next;
    if (!first) first = std::move(next);
  }
  return *first;
}

/// The least --memory that works, in MiB, found by trying, and one more: the next process may be a little larger before
/// it plans. None above `most`.
std::optional<double> min_memory(const planner& plans, const std::vector<plan_choice>& choices, double most) {
  double none = 0, some = std::ceil(most / mebi);
  if (!best_of(plans, choices, some * mebi).fits) return std::nullopt;
  while (some - none > 1) {
    const double between = std::floor((none + some) / 2);
    (best_of(plans, choices, between * mebi).fits ? some : none) = between;
  }
  return some + 1;
}

void add_remedies(memory_plan& plan, const planner& plans, const std::vector<plan_choice>& choices,
                  const memory_room& room, const memory_plan& any_segments) {
  if (room.process != 0) {
    const double all = planner::all_in_memory(plan);
    const std::optional<double> least = min_memory(plans, choices, all);
    if (least) plan.remedies.push_back(fmt::format("--memory {}MiB or more: the rest is on a disk", *least));
    if (!least || *least < std::ceil(all / mebi))
      plan.remedies.push_back(fmt::format("--memory {} or more: everything is in memory", option_size(all)));
  }
  if (choices.front().workers > 1) {
    std::vector<plan_choice> alone = choices;
    for (plan_choice& what : alone) what.workers = 1;
    if (best_of(plans, alone, room.process).fits) plan.remedies.emplace_back("--workers 1");
  }
  if (any_segments.fits) plan.remedies.push_back("--segments " + words(any_segments.orbitals));
}

/// What checkpoints take, and whether their folder has room for it.
void tell_checkpoints(const memory_plan& plan, report& to, const journal& told) {
  const checkpoint_needs& needs = plan.checkpoints;
  const auto of_history = [](double bytes) {
    return bytes > 0 ? fmt::format(", {} of it for DIIS", format_bytes(bytes)) : std::string();
  };
  if (needs.memory > 0) {
    told.line("  checkpoints    {} in memory beside the blocks{}", format_bytes(needs.memory),
              of_history(needs.history_memory));
    to.note("checkpoint_bytes", needs.memory);
    to.note("checkpoint_history_bytes", needs.history_memory);
  }
  if (needs.on_disk == 0) return;
  const checkpoint_room& room = plan.checkpoint_folder;
  told.line("  {:<14} {} at most on disk{}, {} at the end{}", needs.memory > 0 ? "" : "checkpoints",
            format_bytes(needs.on_disk), of_history(needs.history_on_disk), format_bytes(needs.on_disk_at_end),
            room.is_known ? fmt::format("; {} are free in {}", format_bytes(room.free), room.folder.string()) : "");
  to.note("checkpoint_disk_bytes", needs.on_disk);
  if (room.is_known) to.note("checkpoint_free_bytes", room.free);
  if (const std::string why = why_no_room(room, needs.on_disk); !why.empty()) told.line("  too little room: {}", why);
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
  room.slab = static_cast<double>(machine.runtime().slab_bytes);
  const hierarchy::memory_bound bound = hierarchy::min_bound(hierarchy::memory_sources::of_this_process());
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
  const planner plans(p, o, scf, how, room);
  const std::vector<plan_choice> choices = choices_for(p, o, how, o.segments.empty());
  memory_plan plan = best_of(plans, choices, room.process);
  if (!plan.fits) {
    const memory_plan any_segments =
        o.segments.empty() ? plan : best_of(plans, choices_for(p, o, how, true), room.process);
    add_remedies(plan, plans, choices, room, any_segments);
  }
  return_free_memory();
  if (plan.checkpoints.on_disk > 0 && o.machine.empty())
    plan.checkpoint_folder = room_for_checkpoints(o.restart, plan.disk_path, plan.on_disk());
  if (!plan.fits) return plan;
  if (words(plan.orbitals) != words(how.orbitals))
    plan.choices.push_back(fmt::format("segments of {}, so that it fits", words(plan.orbitals)));
  if (plan.direct_ladder && o.ladder != "direct")
    plan.choices.emplace_back(
        "integrals over four virtual orbitals do not fit: those over functions are computed "
        "in each iteration instead (--ladder direct)");
  return plan;
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
                    {"min_bytes", stage.least()},
                    {"in_hand_bytes", stage.in_hand},
                    {"beside_bytes", stage.beside},
                    {"kept_bytes", stage.kept},
                    {"spilled_bytes", stage.on_disk},
                    {"contraction_flops", stage.flops}});
  }
  tell_checkpoints(plan, to, told);
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
