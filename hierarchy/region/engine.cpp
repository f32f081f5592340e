#include "hierarchy/region/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/runtime/machine.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/replay_player.hpp"
#include "core/schedule/waits.hpp"
#include "hierarchy/region/place.hpp"
#include "tessera/front_end.hpp"

namespace tessera::hierarchy {
namespace {

/// Locks in the order of addresses, so that two regions never wait for each other.
template <class Storage>
std::vector<std::unique_lock<Storage>> all_locked(std::vector<Storage*> which) {
  std::ranges::sort(which, std::less<>());
  which.erase(std::unique(which.begin(), which.end()), which.end());
  std::vector<std::unique_lock<Storage>> held;
  held.reserve(which.size());
  for (Storage* const one : which) held.emplace_back(*one);
  return held;
}

/// The location, or the nearest one above it below which something executes.
location::node_id executing_above(const location::tree& tree, location::node_id at, const executors& who) {
  while (at != tree.root() && leaves_of_region(tree, at, who).empty()) at = tree.at(at).parent;
  return at;
}

/// Where regions find an array: at its location, and for a storage location, which executes nothing, at the nearest one
/// above below which something does.
location::node_id used_at(const location::tree& tree, location::node_id at, const executors& who) {
  return tree.at(at).properties.kind == location::kind::storage ? executing_above(tree, at, who) : at;
}

/// The location that has all tasks of a plan.
location::node_id executes_at(const location::tree& tree, const plan& split, location::node_id at) {
  std::vector<location::node_id> leaves;
  leaves.reserve(split.pieces.size());
  for (const piece& p : split.pieces) leaves.push_back(p.leaf);
  return location_around(tree, leaves, at);
}

/// Elements of a result's part.
std::int64_t part_elements(const piece& p, const detail::region_code& code) {
  return p.on_device ? region_kernels::groups_for(p.end - p.begin, code.kernel->inside) : 1;
}

/// Of each leaf that has a memory of its own, for the data of one iteration on their way there, and home; of the others
/// 0.
std::vector<double> seconds_to_move_iterations(const region_request& c, const location::tree& tree,
                                               std::span<const location::node_id> leaves) {
  double bytes = 0;
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr && c.by_part(d) && !c.reads_beside(d)) bytes += static_cast<double>(d.array->bytes());
  std::vector<double> seconds;
  for (const location::node_id leaf : leaves) {
    const double rate = tree.at(leaf).properties.space ? tree.at(leaf).properties.bandwidth : 0;
    seconds.push_back(rate > 0 ? bytes / static_cast<double>(std::max<std::uint64_t>(c.split_count(), 1)) / rate : 0);
  }
  return seconds;
}

block_access access(block::record& block, intent how) {
  return {.block = &block, .version = 0, .intent = how, .flags = 0, .space = 0};
}

}  // namespace

region_engine::region_engine(runtime& of) : m_runtime(of), m_tree(live_tree::of(of)), m_kernels(of), m_history(of) {}

region_engine::~region_engine() { m_history.keep(*m_tree->now()); }

location::node_id region_engine::place(const region_request& c, const location::tree& tree,
                                       const executors& who) const {
  std::vector<placed_array> arrays;
  arrays.reserve(c.demands.size());
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr && !d.array->distance() && (!c.code.copies || d.how != intent::read))
      arrays.push_back({d.array->name(), used_at(tree, d.array->at(), who)});
  const auto elsewhere = [&](const placed_array& a) { return a.at != arrays.front().at; };
  if (c.options.at.empty() && !arrays.empty() && std::ranges::none_of(arrays, elsewhere))
    return c.code.copies ? executing_above(tree, arrays.front().at, who) : arrays.front().at;
  std::optional<location::node_id> at;
  if (!c.options.at.empty()) {
    at = tree.find(c.options.at);
    if (!at || !tree.attached(*at)) refuse_location(tree, c.options.at, "region " + c.who());
  }
  return place_of_region(tree, arrays, at, c.who());
}

std::shared_ptr<const policy> region_engine::parsed(const region_request& c) {
  const auto found = m_policies.find(c.options.policy);
  if (found != m_policies.end()) return found->second;
  auto made = std::make_shared<const policy>(resolve(policy::parse(c.options.policy, "region " + c.who_splits()),
                                                     program_side_of(m_runtime).machine.region_policy,
                                                     "region.policy, for region " + c.who()));
  if (m_policies.size() >= most_policies) m_policies.clear();  // a program that makes up a text each time
  m_policies.emplace(std::string(c.options.policy), made);
  return made;
}

/// Those of a tree that has not changed are known.
const std::vector<location::node_id>& region_engine::leaves_below(const launch_plan& made, const executors& who) {
  constexpr std::size_t most_known = 256;
  const std::tuple key(made.at, who.devices, who.without.data());
  if (const auto known = m_leaves.find(key); known != m_leaves.end()) return known->second;
  if (m_leaves.size() >= most_known) m_leaves.clear();
  return m_leaves.emplace(key, leaves_of_region(*made.tree, made.at, who)).first->second;
}

std::shared_ptr<const plan> region_engine::planned(const region_request& c, launch_plan& made, const executors& who) {
  const std::shared_ptr<const policy>& by = made.rule;
  const location::tree& tree = *made.tree;
  const location::node_id at = made.at;
  const auto plan_by = [&](const policy& rule, std::span<const leaf_state> states) {
    return std::make_shared<const plan>(
        plan_region(rule, c.split_count(), tree, at, c.who_splits(), states, who, leaves_below(made, who)));
  };
  if (m_planned_for != made.tree) m_plans.clear(), m_leaves.clear(), m_planned_for = made.tree;
  if (by->kind == policy_kind::any || by->kind == policy_kind::automatic) {  // as things are now
    const std::vector<location::node_id>& leaves = leaves_below(made, who);
    std::vector<leaf_state> states;
    std::vector<leaf_cost> costs;
    for (const location::node_id leaf : leaves) {
      region_leaf_times& t = m_history.times(*made.past, leaf, tree.at(leaf).properties.name, *by);
      leaf_cost cost = t.cost();
      if (is_team(tree, leaf)) cost.per_iteration /= static_cast<double>(tree.at(leaf).children.size());
      const auto ahead = t.under_way.load(std::memory_order_relaxed);
      states.push_back(
          {.idle = ahead == 0,
           .expected_finish = (ahead + 1.0) * (cost.known() ? cost.seconds(static_cast<double>(c.split_count())) : 1)});
      costs.push_back(cost);
    }
    if (by->kind == policy_kind::automatic) {
      const std::vector<double> moving = seconds_to_move_iterations(c, tree, leaves);
      std::vector<std::uint64_t> arrays;
      for (const detail::region_demand& d : c.demands)
        if (d.array != nullptr && c.by_part(d)) arrays.push_back(d.array->number());
      leaf_shares shares =
          m_history.shares(*made.past, {c.split_count(), leaves, costs, moving, arrays, made.recorded}, made.span);
      if (!shares.empty()) return plan_by({policy_kind::range, {}, std::move(shares)}, states);
    }
    return plan_by(*by, states);
  }
  const auto key = plan_key{by, c.split_count(), at, who.devices, who.without.data()};
  const auto found = m_plans.find(key);
  if (found != m_plans.end()) return found->second;
  if (m_plans.size() >= most_plans) m_plans.clear();  // a loop whose length changes each time
  return m_plans.emplace(key, plan_by(*by, {})).first->second;
}

/// Nothing that it changes is seen by anybody before its launch is noted.
region_engine::launch_plan region_engine::plan_launch(const region_request& c) {
  launch_plan made;
  made.recorded = program_side_of(m_runtime).recordings.current() != nullptr;
  const std::lock_guard guard(m_mutex);
  const std::lock_guard steady(*m_tree);
  made.tree = m_tree->held();
  executors who = m_kernels.who_runs(c.code.kernel, c.demands);
  made.at = place(c, *made.tree, who);
  if (who.devices && m_kernels.any_detached() && leaves_of_region(*made.tree, made.at, who).empty())
    who = m_kernels.who_runs(c.code.kernel, c.demands, true);
  made.rule = parsed(c);
  made.past = m_history.of(c.name.text);
  made.split = planned(c, made, who);
  if (made.rule->kind == policy_kind::any && c.writes_whole()) made.split = as_one_task(std::move(made.split));
  made.devices = std::ranges::any_of(made.split->pieces, &piece::on_device);
  if (made.devices)
    made.split = fitted(std::move(made.split), c.memory_need_of(),
                        [&](location::node_id device) { return m_kernels.memory_limit(device); });
  made.parts = c.parts_of(*made.split);
  made.split = c.of_the_loop(std::move(made.split), made.parts);
  c.check_writes(made.split->pieces.size());
  c.check_remade(made.recorded);
  made.goes_on = made.recorded || std::ranges::any_of(made.split->pieces, [&](const piece& p) {
                   return p.on_device && m_tree->work_at(p.at)->under_way.load(std::memory_order_relaxed) != 0;
                 });
  const auto by_distance = [](const detail::region_demand& d) { return d.array != nullptr && d.array->distance(); };
  if (std::ranges::any_of(c.demands, by_distance)) {
    made.executes = executes_at(*made.tree, *made.split, made.at);
    std::vector<std::pair<array_storage*, location::node_id>> moving;
    for (const detail::region_demand& d : c.demands)
      if (by_distance(d)) moving.emplace_back(d.array, placed_from(made, *d.array));
    made.room = m_tree->require_room(moving, c.name.site);
  }
  count_tasks(made);
  return made;
}

/// Arrays that are placed by distance may have no room before others that have ended are through.
region_engine::launch_plan region_engine::plan_with_room(const region_request& c) {
  try {
    return plan_launch(c);
  } catch (const error& e) {
    if (e.kind() != error_kind::memory) throw;
    finish_ended_arrays(m_runtime);
    return plan_launch(c);
  }
}

/// With the tree's lock held. Not those of recordings, which may run often: of them it is known that they are there.
void region_engine::count_tasks(launch_plan& made) {
  if (made.recorded) {
    made.kept = std::make_shared<const char>();
    for (const piece& p : made.split->pieces) m_tree->work_at(p.at)->note_recorded(made.kept);
    return;
  }
  // On devices in any case: what another region has there is not its own time.
  const bool learns = made.rule->kind == policy_kind::any || made.rule->kind == policy_kind::automatic;
  made.counts.reserve(made.split->pieces.size());
  for (const piece& p : made.split->pieces) {
    std::shared_ptr<region_leaf_times> times = m_history.times_of(made.past, p, learns);
    if (p.on_device && made.rule->kind == policy_kind::automatic && !times->cost().known() && !times->was_waited_for)
      made.unmeasured.push_back(times);
    made.counts.emplace_back(m_tree->work_at(p.at), std::move(times), made.span);
  }
}

/// The first task on a device compiles there, while a program that does not wait would launch all the rest of a loop,
/// split as if the device were as fast as a core.
void region_engine::wait_for_measures(const launch_plan& made) {
  if (made.unmeasured.empty()) return;
  program_side_of(m_runtime).waits.wait(schedule::wait_request::submitting_until([&] {
    return std::ranges::all_of(made.unmeasured, [](const std::shared_ptr<region_leaf_times>& t) {
      return t->cost().known() || t->under_way.load(std::memory_order_acquire) == 0;
    });
  }));
}

void region_engine::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                           std::span<const detail::region_demand> demands, const detail::region_code& code) {
  const region_request c(name, options, over, demands, code);
  c.check_named();
  c.check_owner(m_runtime);
  c.check_rows();
  c.check_once();
  try {
    plan_and_submit(c);
  } catch (...) {  // what was planned counted on its locations, and an edit that waits there hears of no task's end
    program_side_of(m_runtime).waits.look_again();
    throw;
  }
  front_end(m_runtime).wait_for_window();
}

void region_engine::plan_and_submit(const region_request& c) {
  launch_plan made = plan_with_room(c);
  {
    std::vector<array_storage*> arrays;
    std::vector<reduction_storage*> results;
    arrays.reserve(c.demands.size());
    for (const detail::region_demand& d : c.demands) {
      if (d.array != nullptr) arrays.push_back(d.array);
      if (d.result != nullptr) results.push_back(d.result);
    }
    const runtime::no_waiting no_waiting(m_runtime);  // tasks may submit regions of the same arrays
    const auto hold_arrays = all_locked(std::move(arrays));
    const auto between_replays = hold_replays(c, made);
    const auto hold_results = all_locked(std::move(results));
    submit(c, made);
    made.room = {};
  }
  {
    const std::lock_guard guard(m_mutex);
    m_history.note(made.past, {made.at, made.rule, c.count, made.split});
    for (const std::shared_ptr<region_leaf_times>& t : made.unmeasured) t->was_waited_for = true;
  }
  wait_for_measures(made);
}

/// With the arrays locked: where a recording uses one of them, no replay comes between the region's tasks.
std::shared_lock<std::shared_mutex> region_engine::hold_replays(const region_request& c, const launch_plan& made) {
  const auto is_replayed = [](const detail::region_demand& d) { return d.array != nullptr && d.array->keeps_tiles(); };
  if (made.recorded || std::ranges::none_of(c.demands, is_replayed)) return {};
  return program_side_of(m_runtime).replays.hold();
}

/// Where a region goes through a memory that is too small for it. With the arrays locked.
sweep region_engine::sweep_of(const region_request& c, const launch_plan& made) {
  const detail::region_demand* largest = nullptr;
  for (const detail::region_demand& d : c.demands)
    if (c.by_part(d) && (largest == nullptr || d.array->bytes() > largest->array->bytes())) largest = &d;
  if (largest == nullptr || !goes_in_parts(*made.split)) return {};
  return {true, made.goes_on != largest->array->last_went_up()};
}

/// With the arrays locked. Whatever may be refused, or thrown by the program, comes before the first change.
void region_engine::submit(const region_request& c, launch_plan& made) {
  const std::span<const row_interval> parts = made.parts;
  const tiling tiles = tiling_of(c, made);
  const sweep way = sweep_of(c, made);
  std::vector<detail::made_piece> pieces = make_pieces(c, made, kernels_of(c, made, tiles), way);
  std::vector<detail::submission> joins;
  joins.reserve(c.code.joins.size());
  for (const detail::make_join join : c.code.joins) joins.push_back(join(m_runtime, c.name.text, c.name.site));
  for (const detail::region_demand& d : c.demands)
    for (std::size_t k = 0; d.result != nullptr && k < pieces.size(); ++k)
      (void)d.result->part(k, part_elements(made.split->pieces[k], c.code), c.name.site);

  if (way.in_parts)
    for (const detail::region_demand& d : c.demands)
      if (c.by_part(d)) d.array->note_sweep(!way.back);
  for (const wanted_cut& cut : tiles.cuts) {
    if (made.recorded) {
      cut.array->cut_in_recording(cut.ends, c.name.site);
      continue;
    }
    cut.array->tiles().cut(cut.ends, c.name.site);
    cut.array->views().note_region(true);
  }
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr && !made.recorded) d.array->views().note_region(d.how != intent::read);
  name_blocks(c, *made.split, parts, pieces, joins);
  if (made.recorded) {
    const program_side& side = program_side_of(m_runtime);
    side.recordings.current()->keep(made.kept);
    for (const detail::region_demand& d : c.demands)
      if (d.array != nullptr) {
        side.recordings.current()->keep(d.array->keep_tiles());
        side.recordings.current()->count_replays(d.array->views().counter(d.how != intent::read));
      }
  }
  for (detail::made_piece& p : pieces) p.task.commit();
  for (detail::submission& join : joins) join.commit();
  place_by_distance(c, made);
}

/// Where an array that has no location of its own is for a region: where that executes, or above.
location::node_id region_engine::placed_from(const launch_plan& made, const array_storage& array) {
  return memory_above(*made.tree, ancestor_of(*made.tree, made.executes, array.distance()->ancestors));
}

void region_engine::place_by_distance(const region_request& c, const launch_plan& made) {
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr || !d.array->distance()) continue;
    m_tree->place(*d.array, placed_from(made, *d.array));
    if (d.array->is_remade() && d.how != intent::read) d.array->remake(c.name.site);
  }
}

/// The tiles that the arrays should have: few enough for the parameters of the kernels, if that can be.
region_engine::tiling region_engine::tiling_of(const region_request& c, const launch_plan& made) const {
  const std::span<const piece> pieces = made.split->pieces;
  // The tiles under views, and those of recordings; what a kernel has too many of is joined all the same.
  bool spare = true;
  for (std::size_t most = most_tiles_read;;) {
    tiling tiles{wanted_cuts(c, *made.split, made.parts, made.recorded, made.devices, most, spare), {}};
    if (!made.devices && !m_kernels.compares(c.code.kernel)) return tiles;
    tiles.named.emplace(c, pieces.size(), made.parts, tiles.cuts);
    bool fit = true;
    for (std::size_t k = 0; k < pieces.size(); ++k)
      fit = fit && (!pieces[k].on_device || region_kernels::fits(*c.code.kernel, c.demands, tiles.named->of(k)));
    if (fit || !spare) return tiles;
    if (most > 1)
      most /= 2;
    else
      spare = false;
  }
}

/// The operations of the pieces that run as kernels, null for the others; none at all where there is no kernel. While
/// validating those are operations too that somebody looks at. The tiles are those that there will be after the cuts.
/// Where those of a recording are too many for a kernel's parameters, the host runs a device's piece.
std::vector<const operation::definition*> region_engine::kernels_of(const region_request& c, const launch_plan& made,
                                                                    const tiling& tiles) {
  std::vector<const operation::definition*> kernels;
  const operation::definition* alone = nullptr;  // of what the host runs without a kernel
  if (m_kernels.looks()) alone = &m_kernels.looked_at(c.name, c.code.form, c.demands);
  if (!tiles.named) {
    if (alone != nullptr) kernels.assign(made.split->pieces.size(), alone);
    return kernels;
  }
  for (std::size_t k = 0; k < made.split->pieces.size(); ++k) {
    const bool on_device = made.split->pieces[k].on_device;
    const std::span<const std::size_t> named = tiles.named->of(k);
    const bool fits = region_kernels::fits(*c.code.kernel, c.demands, named);
    if (on_device && !fits &&
        !region_kernels::fits(*c.code.kernel, c.demands, std::vector<std::size_t>(named.size(), 1)))
      throw error(error_kind::usage,
                  fmt::format("region {} is a kernel of more than {} parameters on a device", c.who(),
                              operation::kernel_launch::most_arguments),
                  {}, "use fewer arrays in one region, or give it a location without devices (.at)");
    const bool as_kernel = fits && (on_device || m_kernels.compares(c.code.kernel));
    kernels.push_back(as_kernel ? &m_kernels.operation_for(c.name, *c.code.kernel, c.demands, named) : alone);
  }
  return kernels;
}

std::vector<detail::made_piece> region_engine::make_pieces(const region_request& c, launch_plan& made,
                                                           std::span<const operation::definition* const> kernels,
                                                           const sweep& way) {
  std::vector<detail::made_piece> pieces;
  pieces.reserve(made.split->pieces.size());
  for (std::size_t k = 0; k < made.split->pieces.size(); ++k) {
    const piece& p = made.split->pieces[k];
    pieces.push_back(c.code.piece(
        c.code.call, {p.begin, p.end}, made.counts.empty() ? detail::piece_count() : std::move(made.counts[k]),
        kernels.empty() ? nullptr : kernels[k], {.priority = way.priority_of(*made.split, k), .location = p.at}));
  }
  return pieces;
}

/// Of the tasks, with the tiles as they are now, and of those that join their results.
void region_engine::name_blocks(const region_request& c, const plan& split, std::span<const row_interval> parts,
                                std::span<detail::made_piece> pieces, std::span<detail::submission> joins) {
  std::vector<block_access> blocks;
  blocks.reserve(c.demands.size());
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    blocks.clear();
    for (std::size_t u = 0; u < c.demands.size(); ++u) {
      const detail::region_demand& d = c.demands[u];
      detail::region_operand& operand = pieces[k].operands[u];
      operand = {static_cast<std::uint32_t>(blocks.size()), 1, 0};
      if (d.result != nullptr) {
        blocks.push_back(access(d.result->part(k, part_elements(split.pieces[k], c.code), c.name.site), intent::write));
        continue;
      }
      const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
      const row_interval used = c.used_rows(d, parts, k);
      const tile_range in = tiles_with(tiles, used);
      operand.count = static_cast<std::uint32_t>(in.count);
      operand.begin = used.begin, operand.end = used.end;
      if (in.count > 0) operand.row = tiles[in.first].begin;
      for (const tiled_memory::tile& t : tiles.subspan(in.first, in.count))
        blocks.push_back(access(*t.record, c.how(d)));
    }
    check_blocks(m_runtime, c.name.text, blocks, c.name.site);
    pieces[k].task.name_blocks(blocks);
  }
  std::size_t join = 0;
  for (const detail::region_demand& d : c.demands) {
    if (d.result == nullptr) continue;
    blocks.assign(1, access(d.result->value(), intent::write));
    for (std::size_t k = 0; k < pieces.size(); ++k)
      blocks.push_back(access(d.result->part(k, part_elements(split.pieces[k], c.code), c.name.site), intent::read));
    joins[join++].name_blocks(blocks);
  }
}

std::vector<region_row> region_engine::rows() const {
  const std::lock_guard guard(m_mutex);
  return m_history.rows(*m_tree->now());
}

void region_engine::keep_file(const std::shared_ptr<array_memory>& memory) {
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_files, [](const std::weak_ptr<array_memory>& f) { return f.expired(); });
  m_files.push_back(memory);
}

bool region_engine::has_files() const {
  const std::lock_guard guard(m_mutex);
  return std::ranges::any_of(m_files, [](const std::weak_ptr<array_memory>& f) { return !f.expired(); });
}

void region_engine::flush_files() const {
  std::vector<std::shared_ptr<array_memory>> there;
  {
    const std::lock_guard guard(m_mutex);
    for (const std::weak_ptr<array_memory>& f : m_files)
      if (auto memory = f.lock()) there.push_back(std::move(memory));
  }
  for (const auto& memory : there) memory->flush();
}

}  // namespace tessera::hierarchy
