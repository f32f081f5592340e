#include "hierarchy/region/launch_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "core/runtime/machine.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "hierarchy/region/place.hpp"

namespace tessera::hierarchy {
namespace {

/// The location, or the nearest one above it below which something executes.
location::node_id executing_above(const location::tree& tree, location::node_id at, const executors& runners) {
  while (at != tree.root() && leaves_of_region(tree, at, runners).empty()) at = tree.at(at).parent;
  return at;
}

/// Where regions find an array: at its location, and for a storage location, which executes nothing, at the nearest one
/// above below which something does.
location::node_id used_at(const location::tree& tree, location::node_id at, const executors& runners) {
  return tree.at(at).properties.kind == location::kind::storage ? executing_above(tree, at, runners) : at;
}

/// The location that has all tasks of a plan.
location::node_id executes_at(const location::tree& tree, const plan& split, location::node_id at) {
  std::vector<location::node_id> leaves;
  leaves.reserve(split.pieces.size());
  for (const piece& p : split.pieces) leaves.push_back(p.leaf);
  return location_around(tree, leaves, at);
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

}  // namespace

location::node_id placed_from(const launch_plan& launch, const array_storage& array) {
  return memory_above(*launch.tree, ancestor_of(*launch.tree, launch.executes, array.distance()->ancestors));
}

location::node_id launch_planner::place(const region_request& c, const location::tree& tree,
                                        const executors& runners) const {
  std::vector<placed_array> arrays;
  arrays.reserve(c.demands.size());
  for (const detail::region_demand& d : c.demands)
    if (d.array != nullptr && !d.array->distance() && (!c.code.copies || d.how != intent::read))
      arrays.push_back({d.array->name(), used_at(tree, d.array->at(), runners)});
  const auto elsewhere = [&](const placed_array& a) { return a.at != arrays.front().at; };
  if (c.options.at.empty() && !arrays.empty() && std::ranges::none_of(arrays, elsewhere))
    return c.code.copies ? executing_above(tree, arrays.front().at, runners) : arrays.front().at;
  std::optional<location::node_id> at;
  if (!c.options.at.empty()) {
    at = tree.find(c.options.at);
    if (!at || !tree.attached(*at)) refuse_location(tree, c.options.at, "region " + c.name_and_place());
  }
  return place_of_region(tree, arrays, at, c.name_and_place());
}

std::shared_ptr<const policy> launch_planner::parsed(const region_request& c) {
  return m_cache.policy_of(c.options.policy.text(), [&] {
    return std::make_shared<const policy>(resolve(policy::parse(c.options.policy.text(), "region " + c.policy_place()),
                                                  program_side_of(*m_setup.of).machine.region_policy,
                                                  "region.policy, for region " + c.name_and_place()));
  });
}

const std::vector<location::node_id>& launch_planner::leaves_below(const launch_plan& launch,
                                                                   const executors& runners) {
  return m_cache.leaves_of(launch.at, runners, [&] { return leaves_of_region(*launch.tree, launch.at, runners); });
}

std::shared_ptr<const hierarchy::plan> launch_planner::planned(const region_request& c, launch_plan& launch,
                                                               const executors& runners) {
  const std::shared_ptr<const policy>& by = launch.rule;
  const location::tree& tree = *launch.tree;
  const location::node_id at = launch.at;
  const auto plan_by = [&](const policy& rule, std::span<const leaf_state> states) {
    return std::make_shared<const hierarchy::plan>(
        plan_region(rule, c.split_count(), tree, at, c.policy_place(), states, runners, leaves_below(launch, runners)));
  };
  m_cache.use(launch.tree);
  if (by->kind == policy_kind::any || by->kind == policy_kind::automatic) {  // as things are now
    const std::vector<location::node_id>& leaves = leaves_below(launch, runners);
    std::vector<leaf_state> states;
    std::vector<leaf_cost> costs;
    for (const location::node_id leaf : leaves) {
      region_leaf_times& t = m_setup.history->times(*launch.past, leaf, tree.at(leaf).properties.name, *by);
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
      leaf_shares shares = m_setup.history->shares(
          *launch.past, {c.split_count(), leaves, costs, moving, arrays, launch.recorded}, launch.span);
      if (!shares.empty()) return plan_by({policy_kind::range, {}, std::move(shares)}, states);
    }
    return plan_by(*by, states);
  }
  return m_cache.plan_of({by, c.split_count(), at, runners.devices, runners.without.data()},
                         [&] { return plan_by(*by, {}); });
}

launch_plan launch_planner::plan(const region_request& c) {
  launch_plan launch;
  launch.recorded = program_side_of(*m_setup.of).recordings.current() != nullptr;
  const std::lock_guard steady(*m_setup.tree);
  launch.tree = m_setup.tree->held();
  executors runners = m_setup.kernels->runners_of(c.code.kernel, c.demands);
  launch.at = place(c, *launch.tree, runners);
  if (runners.devices && m_setup.kernels->any_detached() && leaves_of_region(*launch.tree, launch.at, runners).empty())
    runners = m_setup.kernels->runners_of(c.code.kernel, c.demands, true);
  launch.rule = parsed(c);
  launch.past = m_setup.history->of(c.name.text);
  tell_of_idle_devices(c, launch);
  launch.split = planned(c, launch, runners);
  const bool one_task = launch.rule->kind == policy_kind::any && c.writes_whole();
  if (one_task) launch.split = as_one_task(std::move(launch.split));
  launch.devices = std::ranges::any_of(launch.split->pieces, &piece::on_device);
  if (launch.devices)
    launch.split = fitted(std::move(launch.split), c.memory_need_of(),
                          [&](location::node_id device) { return m_setup.kernels->memory_limit(device); });
  if (const auto borders = c.block_borders(); borders && !one_task)
    launch.split = at_borders(std::move(launch.split), *borders);
  launch.parts = c.parts_of(*launch.split);
  launch.split = c.of_the_loop(std::move(launch.split), launch.parts);
  c.check_writes(launch.split->pieces.size());
  c.check_remade(launch.recorded);
  launch.goes_on = launch.recorded || std::ranges::any_of(launch.split->pieces, [&](const piece& p) {
                     return p.on_device && m_setup.tree->work_at(p.at)->under_way.load(std::memory_order_relaxed) != 0;
                   });
  const auto by_distance = [](const detail::region_demand& d) { return d.array != nullptr && d.array->distance(); };
  if (std::ranges::any_of(c.demands, by_distance)) {
    launch.executes = executes_at(*launch.tree, *launch.split, launch.at);
    std::vector<std::pair<array_storage*, location::node_id>> moving;
    for (const detail::region_demand& d : c.demands)
      if (by_distance(d)) moving.emplace_back(d.array, placed_from(launch, *d.array));
    launch.room = m_setup.tree->require_room(moving, c.name.site);
  }
  count_tasks(launch);
  return launch;
}

/// Once for a name, when it is launched again: loops that fill arrays at the begin are no matter.
void launch_planner::tell_of_idle_devices(const region_request& c, const launch_plan& launch) const {
  if (c.code.copies || launch.past->launches != 1 || launch.rule->kind == policy_kind::any) return;
  const std::string device = m_setup.kernels->idle_device(c.code.kernel, c.demands, *launch.tree, launch.at);
  if (device.empty()) return;
  say(program_side_of(*m_setup.of).machine.log, 2,
      fmt::format(
          "region {} runs without {}: {}", c.name_and_place(), device,
          c.code.kernel == nullptr
              ? "its body has no form for devices. TESSERA_BODY makes both of one text (docs/kernels.md)"
              : "it has numbers of type double, which that device has not. Write 2.0f for 2.0 where floats do"));
}

/// With the tree's lock held. Not those of recordings, which may run often: of them it is known that they are there.
void launch_planner::count_tasks(launch_plan& launch) {
  if (launch.recorded) {
    launch.kept = std::make_shared<const char>();
    for (const piece& p : launch.split->pieces) m_setup.tree->work_at(p.at)->note_recorded(launch.kept);
    return;
  }
  // On devices in any case: what another region has there is not its own time.
  const bool learns = launch.rule->kind == policy_kind::any || launch.rule->kind == policy_kind::automatic;
  launch.counts.reserve(launch.split->pieces.size());
  for (const piece& p : launch.split->pieces) {
    std::shared_ptr<region_leaf_times> times = m_setup.history->times_of(launch.past, p, learns);
    if (p.on_device && launch.rule->kind == policy_kind::automatic && !times->cost().known() && !times->was_waited_for)
      launch.unmeasured.push_back(times);
    launch.counts.emplace_back(m_setup.tree->work_at(p.at), std::move(times), launch.span);
  }
}

}  // namespace tessera::hierarchy
