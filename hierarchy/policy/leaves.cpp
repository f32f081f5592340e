#include "hierarchy/policy/leaves.hpp"

#include <algorithm>

namespace tessera::hierarchy {
namespace {

// A worker with a memory of its own is a device; the host's cores use that of an ancestor.
bool executes_itself(const location::tree& tree, location::node_id id, const executors& who) {
  const location::node& n = tree.at(id);
  if (n.properties.kind != location::kind::worker) return false;
  return !n.properties.space || (who.devices && std::ranges::find(who.without, id) == who.without.end());
}

bool executes_somewhere(const location::tree& tree, location::node_id id, const executors& who) {
  return executes_itself(tree, id, who) || std::ranges::any_of(tree.at(id).children, [&](location::node_id child) {
           return executes_somewhere(tree, child, who);
         });
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

namespace {

/// Each node is looked at once, however deep the tree.
void collect_leaves(const location::tree& tree, location::node_id id, leaf_rule rule, const executors& who,
                    std::vector<location::node_id>& leaves) {
  const std::size_t before = leaves.size();
  if (rule != leaf_rule::teams || !is_team(tree, id))
    for (const location::node_id child : tree.at(id).children) collect_leaves(tree, child, rule, who, leaves);
  if (leaves.size() == before && (executes_itself(tree, id, who) || (rule == leaf_rule::teams && is_team(tree, id))))
    leaves.push_back(id);
}

}  // namespace

std::vector<location::node_id> executing_leaves(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                const executors& who) {
  std::vector<location::node_id> leaves;
  collect_leaves(tree, id, rule, who, leaves);
  return leaves;
}

}  // namespace tessera::hierarchy
