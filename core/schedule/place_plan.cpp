#include "core/schedule/place_plan.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace tessera::schedule {
namespace {

memory::space_number space_of(location::node_id node, std::span<const space_facts> spaces) {
  const auto found = std::ranges::find(spaces, node, &space_facts::location);
  return found == spaces.end() ? memory::no_space : static_cast<memory::space_number>(found - spaces.begin());
}

void plan_host(place_plan& plan, const location::tree& tree, std::span<const space_facts> spaces) {
  for (const location::node_id leaf : tree.subtree(tree.root())) {
    const location::properties& properties = tree.at(leaf).properties;
    if (properties.kind != location::kind::worker || properties.cpus.empty() || properties.space) continue;
    const location::node_id memory = tree.memory_of(leaf);
    if (memory == location::no_node) continue;
    const memory::space_number space = space_of(memory, spaces);
    if (space == memory::no_space || !spaces[space].host_visible) continue;
    auto place = std::ranges::find(plan.places, space, &planned_place::space);
    if (place == plan.places.end()) place = plan.places.insert(place, {.space = space, .is_host = true, .cores = {}});
    place->cores.push_back(leaf);
    plan.workers.push_back({static_cast<std::uint32_t>(place - plan.places.begin()), leaf, properties.cpus});
  }
}

/// From one for each core to as many as there are to be.
void deal(place_plan& plan, std::uint32_t workers) {
  const std::size_t cores = plan.workers.size();
  plan.workers.resize(workers != 0 ? workers : cores);
  for (std::size_t k = cores; k < plan.workers.size(); ++k) {
    const planned_worker& shared = plan.workers[k % cores];
    plan.workers[k] = {shared.place, shared.location, {}};
  }
  for (const planned_worker& worker : plan.workers) ++plan.places[worker.place].workers;
}

}  // namespace

place_plan plan_places(const location::tree& tree, std::span<const space_facts> spaces, std::uint32_t workers) {
  place_plan plan;
  plan_host(plan, tree, spaces);
  if (plan.workers.empty())
    throw error(error_kind::configuration, "the location tree has no CPU worker with a memory of the host plugin", {},
                "`tessera topology` shows the tree; declare a location of a type with kind = \"cpu\"");
  deal(plan, workers);
  for (std::size_t k = 0; k < spaces.size(); ++k) {
    const auto number = static_cast<memory::space_number>(k);
    if (!spaces[k].host_visible && !spaces[k].storage)
      plan.places.push_back({.space = number, .is_host = false, .cores = {}});
  }
  for (std::size_t k = 0; k < spaces.size(); ++k) {
    const auto of_one_device = [&](memory::space_number store) { return spaces[store].device == spaces[k].device; };
    if (spaces[k].storage && std::ranges::none_of(plan.stores, of_one_device))
      plan.stores.push_back(static_cast<memory::space_number>(k));
  }
  return plan;
}

}  // namespace tessera::schedule
