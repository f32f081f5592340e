// The edits. Every function checks first and changes afterwards, so that a throw leaves the tree as it was.
#include "core/location/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::location {

std::string_view name_of(kind k) noexcept {
  switch (k) {
    case kind::machine:
      return "machine";
    case kind::memory:
      return "memory";
    case kind::worker:
      return "worker";
    case kind::virtual_group:
      return "virtual";
    case kind::storage:
      return "storage";
  }
  return "unknown";
}

tree::tree(properties root) {
  if (root.name.empty()) throw error(error_kind::configuration, "the root of a location tree needs a name");
  m_by_name.emplace(root.name, 0);
  m_nodes.push_back({0, no_node, {}, std::move(root)});
  m_attached.push_back(true);
  m_attached_count = 1;
}

const node& tree::checked(node_id id) const {
  if (id >= m_nodes.size())
    throw error(error_kind::configuration, fmt::format("there is no location with the number {}", id), {},
                fmt::format("numbers of this tree are 0 to {}", m_nodes.size() - 1));
  return m_nodes[id];
}

const node& tree::at(node_id id) const { return checked(id); }

std::optional<node_id> tree::find(std::string_view name) const {
  const auto found = m_by_name.find(name);
  if (found == m_by_name.end()) return std::nullopt;
  return found->second;
}

bool tree::attached(node_id id) const {
  checked(id);
  return m_attached[id];
}

std::size_t tree::size() const noexcept { return m_attached_count; }

std::uint64_t tree::epoch() const noexcept { return m_epoch; }

node_id tree::add(node_id parent, properties is) {
  checked(parent);
  if (is.name.empty())
    throw error(error_kind::configuration,
                fmt::format("a location below '{}' has no name", m_nodes[parent].properties.name));
  if (m_by_name.contains(is.name))
    throw error(error_kind::configuration, fmt::format("there is already a location named '{}'", is.name), {},
                "names of locations are unique in the whole tree, detached branches included");
  const auto id = static_cast<node_id>(m_nodes.size());
  m_by_name.emplace(is.name, id);
  m_nodes.push_back({id, no_node, {}, std::move(is)});
  m_attached.push_back(false);
  link(id, parent);
  return id;
}

void tree::detach(node_id id) {
  const node& n = checked(id);
  if (id == root()) throw error(error_kind::configuration, "the root of the location tree cannot be detached");
  if (n.parent == no_node)
    throw error(error_kind::configuration, fmt::format("location '{}' is already detached", n.properties.name));
  unlink(id);
}

void tree::attach(node_id id, node_id parent) {
  const node& n = checked(id);
  checked(parent);
  if (id == root() || n.parent != no_node)
    throw error(error_kind::configuration,
                id == root() ? std::string("the root of the location tree cannot be attached to another location")
                             : fmt::format("location '{}' is attached to '{}' already", n.properties.name,
                                           m_nodes[n.parent].properties.name),
                {}, "a location has one parent: detach it first, or reparent it");
  require_no_cycle(id, parent);
  link(id, parent);
}

void tree::reparent(node_id id, node_id parent) {
  const node& n = checked(id);
  checked(parent);
  if (id == root()) throw error(error_kind::configuration, "the root of the location tree cannot get a parent");
  require_no_cycle(id, parent);
  if (n.parent != no_node) unlink(id);
  link(id, parent);
}

properties& tree::edit(node_id id) {
  checked(id);
  ++m_epoch;
  return m_nodes[id].properties;
}

void tree::require_no_cycle(node_id id, node_id parent) const {
  if (!is_ancestor(id, parent)) return;
  throw error(error_kind::configuration,
              id == parent
                  ? fmt::format("location '{}' cannot be its own parent", m_nodes[id].properties.name)
                  : fmt::format("location '{}' cannot go below '{}': '{}' is below '{}', which would be a cycle",
                                m_nodes[id].properties.name, m_nodes[parent].properties.name,
                                m_nodes[parent].properties.name, m_nodes[id].properties.name));
}

void tree::link(node_id id, node_id parent) {
  m_nodes[parent].children.push_back(id);
  m_nodes[id].parent = parent;
  mark(id, m_attached[parent]);
  ++m_epoch;
}

void tree::unlink(node_id id) {
  auto& siblings = m_nodes[m_nodes[id].parent].children;
  siblings.erase(std::find(siblings.begin(), siblings.end(), id));
  m_nodes[id].parent = no_node;
  mark(id, false);
  ++m_epoch;
}

void tree::mark(node_id id, bool is_attached) {
  for (const node_id below : subtree(id)) {
    if (m_attached[below] == is_attached) continue;
    m_attached[below] = is_attached;
    is_attached ? ++m_attached_count : --m_attached_count;
  }
}

}  // namespace tessera::location
