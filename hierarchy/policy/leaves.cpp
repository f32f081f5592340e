#include "hierarchy/policy/leaves.hpp"

#include <algorithm>

namespace tessera::hierarchy {
namespace {

// A worker with a memory of its own is a device; the host's cores use that of an ancestor.
bool executes_somewhere(const location::tree& tree, location::node_id id, const executors& who) {
  const location::node& n = tree.at(id);
  const auto takes_part = [&] {
    return !n.properties.space || (who.devices && std::ranges::find(who.without, id) == who.without.end());
  };
  return (n.properties.kind == location::kind::worker && takes_part()) ||
         std::ranges::any_of(n.children, [&](location::node_id child) { return executes_somewhere(tree, child, who); });
}

}  // namespace

bool is_team(const location::tree& tree, location::node_id id) {
  const location::node& n = tree.at(id);
  return n.properties.kind == location::kind::virtual_group && !n.children.empty() &&
         std::ranges::all_of(n.children, [&](location::node_id child) {
           const location::node& c = tree.at(child);
           return c.properties.kind == location::kind::worker && !c.properties.space && c.children.empty();
         });
}

std::vector<location::node_id> executing_children(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                  const executors& who) {
  if (rule == leaf_rule::teams && is_team(tree, id)) return {};
  std::vector<location::node_id> children = tree.at(id).children;
  std::erase_if(children, [&](location::node_id child) { return !executes_somewhere(tree, child, who); });
  return children;
}

std::vector<location::node_id> executing_leaves(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                const executors& who) {
  if (!executes_somewhere(tree, id, who)) return {};
  const auto children = executing_children(tree, id, rule, who);
  if (children.empty()) return {id};
  std::vector<location::node_id> leaves;
  for (const location::node_id child : children) {
    const auto below = executing_leaves(tree, child, rule, who);
    leaves.insert(leaves.end(), below.begin(), below.end());
  }
  return leaves;
}

}  // namespace tessera::hierarchy
