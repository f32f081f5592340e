// The questions that place work and data. All are walks along parent links; trees have tens to thousands of nodes.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/location/tree.hpp"

namespace tessera::location {

std::size_t tree::depth(node_id id) const {
  checked(id);
  std::size_t edges = 0;
  while ((id = m_nodes[id].parent) != no_node) ++edges;
  return edges;
}

std::string tree::path(node_id id) const {
  std::string text = checked(id).properties.name;
  while ((id = m_nodes[id].parent) != no_node) text = m_nodes[id].properties.name + "/" + text;
  return text;
}

bool tree::is_ancestor(node_id ancestor, node_id id) const {
  checked(ancestor);
  checked(id);
  for (; id != no_node; id = m_nodes[id].parent)
    if (id == ancestor) return true;
  return false;
}

node_id tree::common_ancestor(node_id a, node_id b) const {
  std::size_t depth_a = depth(a), depth_b = depth(b);
  node_id x = a, y = b;
  for (; depth_a > depth_b; --depth_a) x = m_nodes[x].parent;
  for (; depth_b > depth_a; --depth_b) y = m_nodes[y].parent;
  while (x != y && x != no_node) {
    x = m_nodes[x].parent;
    y = m_nodes[y].parent;
  }
  if (x == no_node)
    throw error(error_kind::configuration,
                fmt::format("locations '{}' and '{}' have no common ancestor", m_nodes[a].properties.name,
                            m_nodes[b].properties.name),
                {}, "one of them is in a detached branch: attach it first");
  return x;
}

std::size_t tree::distance(node_id a, node_id b) const {
  return depth(a) + depth(b) - 2 * depth(common_ancestor(a, b));
}

std::optional<node_id> tree::most_common_descendant(std::span<const node_id> locations) const {
  if (locations.empty()) return std::nullopt;
  node_id deepest = locations.front();
  std::size_t deepest_depth = depth(deepest);
  for (const node_id id : locations.subspan(1))
    if (const std::size_t d = depth(id); d > deepest_depth) {
      deepest = id;
      deepest_depth = d;
    }
  if (!m_attached[deepest]) return std::nullopt;
  const bool on_one_path = std::ranges::all_of(locations, [&](node_id id) { return is_ancestor(id, deepest); });
  return on_one_path ? std::optional(deepest) : std::nullopt;
}

std::vector<node_id> tree::subtree(node_id id) const {
  checked(id);
  std::vector<node_id> found, open{id};
  while (!open.empty()) {
    const node_id next = open.back();
    open.pop_back();
    found.push_back(next);
    const auto& children = m_nodes[next].children;
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return found;
}

std::vector<node_id> tree::leaves(node_id id) const {
  std::vector<node_id> found = subtree(id);
  std::erase_if(found, [&](node_id n) { return !m_nodes[n].children.empty(); });
  return found;
}

node_id tree::memory_of(node_id id) const {
  checked(id);
  while (id != no_node && !m_nodes[id].properties.space) id = m_nodes[id].parent;
  return id;
}

// The first memory below `top`: a direct child first, else depth first. Workers are not entered: memory below a device
// belongs to that device, and entering it could make two devices each other's parent.
node_id tree::first_memory(node_id top, node_id excluded, std::optional<space_key> other_than) const {
  const auto fits = [&](node_id id) {
    const properties& node = m_nodes[id].properties;
    return node.kind == kind::memory && node.space && node.space != other_than;
  };
  for (const node_id child : m_nodes[top].children)
    if (child != excluded && fits(child)) return child;
  for (const node_id child : m_nodes[top].children) {
    if (child == excluded || m_nodes[child].properties.kind == kind::worker) continue;
    if (const node_id below = first_memory(child, no_node, other_than); below != no_node) return below;
  }
  return no_node;
}

// The store that host memory is written out to: the nearest, looking along the path to the root, then anywhere.
node_id tree::first_storage(node_id memory) const {
  const auto fits = [&](node_id id) {
    return m_nodes[id].properties.kind == kind::storage && m_nodes[id].properties.space;
  };
  node_id top = memory;
  for (node_id a = memory; a != no_node; a = m_nodes[a].parent) {
    for (const node_id child : m_nodes[a].children)
      if (fits(child)) return child;
    top = a;
  }
  for (const node_id id : subtree(top))
    if (fits(id)) return id;
  return no_node;
}

node_id tree::parent_memory(node_id id) const {
  const node_id memory = memory_of(id);
  if (memory == no_node) return no_node;
  const properties& node = m_nodes[memory].properties;
  if (node.kind == kind::storage) return no_node;
  node_id below = memory;
  for (node_id a = m_nodes[memory].parent; a != no_node; below = a, a = m_nodes[a].parent) {
    const properties& above = m_nodes[a].properties;
    if (above.space && above.space != node.space) return a;
    if (above.space || node.kind == kind::memory || node.kind == kind::machine) continue;
    if (const node_id beside = first_memory(a, below, node.space); beside != no_node) return beside;
  }
  return first_storage(memory);
}

}  // namespace tessera::location
