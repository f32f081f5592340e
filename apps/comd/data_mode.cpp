#include "apps/comd/data_mode.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "tessera/machine.hpp"

namespace tessera::apps::comd {

data_choice data_choice_of(std::string_view name) {
  if (name == "deepcopy") return data_choice::deepcopy;
  if (name == "shared") return data_choice::shared;
  if (name == "chain") return data_choice::chain;
  throw error(error_kind::usage, fmt::format("'{}' is no way to move data", name), "--data",
              "deepcopy (the whole structure), shared (what loops need) or chain (arrays named by pointers)");
}

std::string host_memory_at(const runtime& rt, std::string_view location) {
  const location::tree& tree = rt.tree();
  const auto is_host = [&](location::node_id node) {
    return node != location::no_node && tree.at(node).properties.space &&
           rt.plugins().devices()[tree.at(node).properties.space->device]->plugin_name() == "host";
  };
  if (!location.empty())
    if (const location::node_id memory = tree.memory_of(rt.at(location)); is_host(memory))
      return std::string(tree.at(memory).properties.name);
  for (const location::node_id node : tree.subtree(tree.root()))
    if (is_host(node)) return std::string(tree.at(node).properties.name);
  throw error(error_kind::configuration, "the tree has no memory of the host", {},
              "`tessera topology` shows the tree and its memories");
}

}  // namespace tessera::apps::comd
