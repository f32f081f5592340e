#include "core/runtime/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/block/space_set.hpp"

namespace tessera {
namespace {

void require_some_and_not_too_many(std::size_t memories) {
  if (memories > block::space_set::max_spaces)
    throw error(
        error_kind::configuration,
        fmt::format("this machine has {} memories and a runtime takes {}", memories, block::space_set::max_spaces), {},
        "open fewer devices: the options of their plugins, or runtime.plugins");
  if (memories == 0)
    throw error(error_kind::configuration, "no memory space: the location tree names none that a plugin offers", {},
                "open the host plugin: runtime.plugins = [\"host\"]");
}

}  // namespace

std::vector<planned_memory> plan_memories(const location::tree& tree,
                                          std::span<const std::vector<memory_facts>> offered,
                                          std::uint64_t host_limit) {
  const auto facts = [&](const location::space_key& key) -> const memory_facts& {
    return offered[key.device][key.space];
  };
  std::vector<planned_memory> plan;
  for (const bool host : {true, false})
    for (const location::node_id node : tree.subtree(tree.root())) {
      const location::properties& properties = tree.at(node).properties;
      if (!properties.space || properties.space->device >= offered.size() || facts(*properties.space).is_host != host)
        continue;
      planned_memory memory{.location = node, .space = *properties.space, .limit = properties.memory_bytes};
      if (host && host_limit != 0) memory.limit = memory.limit == 0 ? host_limit : std::min(memory.limit, host_limit);
      plan.push_back(memory);
    }
  require_some_and_not_too_many(plan.size());

  const auto number_of = [&](auto&& fits) {
    const auto found = std::ranges::find_if(plan, fits);
    return found == plan.end() ? memory::no_space : static_cast<memory::space_number>(found - plan.begin());
  };
  const memory::space_number storage = number_of([&](const planned_memory& m) { return facts(m.space).is_storage; });
  for (planned_memory& memory : plan) {
    if (facts(memory.space).is_storage) continue;
    const location::node_id above = tree.parent_memory(memory.location);
    memory.parent = number_of([&](const planned_memory& m) { return &m != &memory && m.location == above; });
    if (memory.parent == memory::no_space) memory.parent = storage;
  }
  return plan;
}

}  // namespace tessera
