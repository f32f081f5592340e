#pragma once
// What a region counts as a leaf.
#include <cstdint>
#include <span>
#include <vector>

#include "core/location/tree.hpp"

namespace tessera::hierarchy {

/// Whether a group of cores counts as one leaf (a declared CPU location: one share, its cores work on it together) or
/// each core on its own.
enum class leaf_rule : std::uint8_t {
  cores,
  teams
};

/// What takes part.
struct executors {
  bool devices = true;                           ///< beside the workers of the host
  std::span<const location::node_id> without{};  ///< devices that do not
};
inline constexpr executors all_executors{};        ///< everything that executes
inline constexpr executors host_executors{false};  ///< the workers of the host alone

/// A team: a virtual group whose children are all workers without own memory (cores).
bool is_team(const location::tree& tree, location::node_id id);

/// The children of a node that lead to something that executes, in order; empty for a leaf. Storage, memory without
/// workers and empty groups are left out.
std::vector<location::node_id> executing_children(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                  const executors& who = all_executors);

/// The leaves below (or at) a node that execute, depth first. Empty when nothing there executes.
std::vector<location::node_id> executing_leaves(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                const executors& who = all_executors);

}  // namespace tessera::hierarchy
