#include "apps/chem/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "apps/common/process_memory.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

// Measured: the runtime with its plugins and threads, and what each worker has beside its blocks.
constexpr double of_runtime = 12 * mebi, of_disk = 8 * mebi, of_worker = 6 * mebi;
constexpr double of_block = 700;  // of a shared block: its record, its place in an array, what a worker notes of it
/// Room between blocks of different sizes that cannot be used: where nothing limits a memory, slabs are large; where
/// something does, most blocks are slabs by themselves.
constexpr double unlimited_waste = 1.35, limited_waste = 1.05;
constexpr double spare = 1.1;  // waiting blocks of a worker that gives most of them up
// Beside blocks that cannot leave, others have to come and go. In slabs of many blocks they lie between them; where
// that is too much, most blocks are slabs by themselves. Blocks of short segments are too small for that.
constexpr double pinned_in_slabs = 3.5, pinned_alone = 1.5;
constexpr std::size_t short_segment = 16;
constexpr double min_slab = 64 * 1024, max_slabs = 8192;
// Where there is a disk, workers announce what they will fetch: each has a log of that, which is used again.
constexpr double of_announced = 40, max_announced = 262144;
constexpr double max_kept = 1024 * mebi;  // of SCF's integrals

constexpr unsigned other_rows = 8;           // of a recording: threads that are no workers of programs
constexpr int recorded_iterations = 20;      // of coupled cluster, for what is recorded
constexpr double max_of_rates = 384 * mebi;  // arrays by which the speed of memory is measured

/// What blocks take where nothing limits them. Slabs are whole, and all of one is used sooner or later. The first ones
/// are small: they follow what blocks take.
double unlimited(double blocks, double slab) {
  const double all = unlimited_waste * blocks;
  return all < 2 * slab ? all : std::ceil(all / slab) * slab;
}

std::span<stage_needs> programs_of(memory_plan& plan) { return std::span(plan.stages).subspan(1); }

/// Workers have so many times what is alive at once: beyond it, blocks that wait for others of their size give their
/// memory up.
void let_wait(memory_plan& plan, unsigned workers, double times) {
  double most = 0;
  for (const stage_needs& stage : programs_of(plan)) most = std::max(most, times * stage.own_least);
  plan.of_worker = most / workers;
  for (stage_needs& stage : programs_of(plan)) stage.own = std::min(stage.own, most);
}

/// A worker may hold a part of what is left beside the blocks that cannot leave.
double held_by_one(memory_plan& plan, unsigned workers, double limit) {
  double most = limit;
  for (const stage_needs& stage : programs_of(plan))
    most = std::min(most, stage.in_hand + (limit - limited_waste * stage.least()) / 8);
  return std::max(most, 0.0) / workers;
}

double pinned_with(const plan_choice& what) {
  return what.orbitals.virtual_segment < short_segment ? pinned_in_slabs : pinned_alone;
}

void refuse(memory_plan& plan, const std::string& why) {
  plan.fits = false;
  if (plan.refusal.empty()) plan.refusal = why;
}

}  // namespace

planner::planner(const problem& p, const chem_options& o, const chemistry::scf_settings& scf,
                 const sial::correlation_settings& how, const memory_room& room)
    : m_problem(p),
      m_options(o),
      m_how(how),
      m_room(room),
      m_scf(chemistry::memory_of_scf(*p.over, scf)),
      m_process_now(memory_of_this_process().now) {
  const std::size_t orbitals = chemistry::independent_functions(*p.over, scf.linear_dependence);
  m_fcidump = fcidump_of(p, o, orbitals);
  m_field = sial::unknown_field(p.of, p.kind, p.over->functions(), orbitals);
  m_checkpoints = needs_of_checkpoints(p, o, m_field);
}

stage_needs planner::needs_of(const sial::program_estimate& e, unsigned workers) const {
  stage_needs needs{e.program, m_scf.result + workers * (of_worker + m_problem.over->engine_bytes())};
  for (const sial::array_kind kind : {sial::array_kind::fixed, sial::array_kind::contiguous_local})
    needs.beside += e.kinds[static_cast<std::size_t>(kind)].in_all.bytes;
  needs.beside += of_block * (e.shared_at_once.blocks + e.kept_before.blocks);
  needs.beside += m_checkpoints.memory + m_fcidump.integrals;
  needs.beside += device_bytes_of(m_options, e.shared_at_once.room + e.kept_before.room,
                                  workers * std::min(e.private_room(), e.private_at_once));
  needs.announced = of_announced * workers * std::min(max_announced, e.fetches / workers);
  needs.own = workers * e.private_room();
  needs.own_least = workers * std::min(e.private_room(), spare * e.private_at_once);
  needs.in_hand = workers * e.hand_room;
  needs.shared = std::max(e.shared_at_once.room + e.kept_before.room, needs.in_hand);
  needs.flops = e.flops();
  return needs;
}

const planner::walked& planner::programs_with(const plan_choice& what) const {
  const sial::orbital_choice& cut = what.orbitals;
  const auto [at, is_new] = m_walked.try_emplace(
      {cut.basis_segment, cut.occupied_segment, cut.virtual_segment, what.direct_ladder, what.workers});
  if (!is_new) return at->second;
  sial::correlation_settings how = m_how;
  how.orbitals = cut;
  how.direct_ladder = what.direct_ladder;
  how.programs.workers = what.workers;
  at->second.programs = sial::estimate_correlation(*m_problem.over, m_field, how);
  for (const sial::program_estimate& e : at->second.programs) at->second.stages.push_back(needs_of(e, what.workers));
  if (m_options.trace.empty() && m_options.report.empty()) return at->second;
  how.max_iterations = std::min(how.max_iterations, recorded_iterations);
  for (const sial::program_estimate& e : sial::estimate_correlation(*m_problem.over, m_field, how))
    at->second.statements += e.data_statements;
  return at->second;
}

/// What is recorded may take a part of what a limited process has beside its other needs.
recording_memory planner::recording_with(const plan_choice& what, const memory_plan& plan, double process) const {
  const unsigned rows = what.workers + other_rows;
  const double statements = m_problem.method ? programs_with(what).statements : 0;
  const recording_memory all = recording_of(m_options, statements, rows);
  if (process == 0 || all.most == 0) return all;
  const double left = process - plan.before;
  double most = (left - m_scf.matrices) / all.per_byte_at_end;
  for (const stage_needs& stage : plan.stages)
    most = std::min(most, (left - stage.beside - pinned_with(what) * stage.least()) / 4);
  return within(all, most, rows);
}

/// Files that are made in memory: integrals between the field and the programs, the others at the end. The speed of
/// memory is measured for a recording with as much as the blocks had, which are gone by then.
void planner::add_files(memory_plan& plan, const recording_memory& events, double left) const {
  double blocks = 0;
  for (const stage_needs& stage : plan.stages) blocks = std::max(blocks, stage.resident);
  double at_end = m_scf.result + m_fcidump.integrals + std::max(m_fcidump.text, events.at_end);
  if (events.most > 0) {
    plan.for_rates = std::clamp(left - at_end, 0.0, std::min(blocks, max_of_rates));
    at_end += plan.for_rates;
  }
  if (m_fcidump.making > 0) plan.stages.insert(plan.stages.begin() + 1, {"FCIDUMP", m_scf.result + m_fcidump.making});
  if (m_fcidump.text > 0 || events.most > 0) plan.stages.push_back({"files", at_end});
  for (const stage_needs& stage : plan.stages)
    if (stage.blocks() == 0 && stage.beside > left)
      refuse(plan, fmt::format("{} takes {}, and there is room for {}", stage.name, format_bytes(stage.beside),
                               format_bytes(std::max(left, 0.0))));
}

memory_plan planner::with(const plan_choice& what, double process) const {
  memory_plan plan;
  const bool is_limited = process != 0;
  plan.before = m_process_now + of_runtime + (m_problem.method && (is_limited || m_room.has_disk) ? of_disk : 0);
  plan.checkpoints = m_checkpoints;
  plan.orbitals = what.orbitals;
  plan.direct_ladder = what.direct_ladder;
  plan.stages.push_back({"SCF", m_scf.matrices});
  if (m_problem.method) {
    const walked& programs = programs_with(what);
    plan.programs = programs.programs;
    plan.stages.insert(plan.stages.end(), programs.stages.begin(), programs.stages.end());
  }
  if (is_limited || m_room.has_disk)
    for (stage_needs& stage : plan.stages) stage.beside += stage.announced;
  const recording_memory events = recording_with(what, plan, process);
  plan.recorded = events.most;
  plan.before += events.resident;
  const double left = is_limited ? process - plan.before : m_room.blocks;
  keep_integrals(plan, left - m_scf.matrices);
  place_programs(plan, what, left, is_limited);
  if (plan.recorded > 0 && events.most < events.events)
    plan.choices.push_back(fmt::format("the recording keeps {} of about {} of events", format_bytes(events.most),
                                       format_bytes(events.events)));
  add_files(plan, events, left);
  return plan;
}

void planner::place_programs(memory_plan& plan, const plan_choice& what, double left, bool is_limited) const {
  const unsigned workers = what.workers;
  double beside = 0;
  for (const stage_needs& stage : programs_of(plan)) beside = std::max(beside, stage.beside);
  const double limit = is_limited ? std::min(m_room.blocks, left - beside) : m_room.blocks;
  let_wait(plan, workers, 2);
  if (std::ranges::any_of(programs_of(plan), [&](const stage_needs& s) { return s.blocks() * limited_waste > limit; }))
    let_wait(plan, workers, 1);
  for (stage_needs& stage : programs_of(plan))
    place(plan, stage, limit, is_limited ? pinned_with(what) : pinned_in_slabs);
  if (plan.on_disk() > 0) plan.held = held_by_one(plan, workers, limit);
  if (!m_problem.method || !plan.fits) return;
  if (!is_limited) {
    const auto is_tight = [&](const stage_needs& s) { return unlimited_waste * s.blocks() > limit; };
    if (!m_room.has_disk && std::ranges::any_of(programs_of(plan), is_tight)) plan.disk_path = m_room.disk_path;
    return;
  }
  for (stage_needs& stage : programs_of(plan)) {
    stage.resident = std::min(limit, limited_waste * stage.blocks());
    plan.host_limit = std::max(plan.host_limit, stage.resident);
    if (stage.on_disk > 0 && stage.least() * pinned_in_slabs > limit) plan.slab = std::max(min_slab, limit / max_slabs);
  }
  if (!m_room.has_disk) plan.disk_path = m_room.disk_path;  // also where all should fit: room may be lost
}

void planner::keep_integrals(memory_plan& plan, double room) const {
  const double kept = std::clamp(room, 0.0, std::min(m_scf.integrals, max_kept));
  plan.kept_integrals = static_cast<std::size_t>(kept);
  plan.stages.front().kept = kept;
  if (kept < m_scf.integrals)
    plan.choices.push_back(fmt::format("SCF keeps {} of {} of integrals, and computes the others in each iteration",
                                       format_bytes(kept), format_bytes(m_scf.integrals)));
}

void planner::place(memory_plan& plan, stage_needs& stage, double limit, double pinned) const {
  stage.resident = std::min(limit, unlimited(stage.blocks(), m_room.slab));
  if (stage.blocks() * limited_waste <= limit) return;
  if (stage.least() * pinned > limit) {
    stage.resident = limited_waste * stage.blocks();
    return refuse(plan, fmt::format("{} has {} of blocks that cannot leave memory, and there is room for {}",
                                    stage.name, format_bytes(stage.least()), format_bytes(std::max(limit, 0.0))));
  }
  stage.on_disk = limited_waste * stage.blocks() - limit;
  if (m_room.has_disk) return;
  if (stage.on_disk > m_room.disk_left)
    return refuse(plan, fmt::format("{} leaves {} to a disk, and {} has {}", stage.name, format_bytes(stage.on_disk),
                                    m_room.disk_path, format_bytes(m_room.disk_left)));
  plan.disk_path = m_room.disk_path;
}

double planner::all_in_memory(const memory_plan& plan) {
  double most = 0;
  for (const stage_needs& stage : plan.stages) most = std::max(most, stage.beside + limited_waste * stage.blocks());
  return plan.before + most;
}

}  // namespace tessera::apps
