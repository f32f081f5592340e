#pragma once
// What a region counts as a leaf.
#include <vector>

#include "core/location/tree.hpp"

namespace tessera::hierarchy {

/// Whether a group of cores counts as one leaf (a declared CPU location: one share, its cores work on it together) or
/// each core on its own.
enum class leaf_rule : std::uint8_t {
  cores,
  teams
};

/// What takes part: everything that executes, or the workers of the host alone.
enum class executors : std::uint8_t {
  all,
  host
};

/// A team: a virtual group whose children are all workers without own memory (cores).
bool is_team(const location::tree& tree, location::node_id id);

/// The children of a node that lead to something that executes, in order; empty for a leaf. Storage, memory without
/// workers and empty groups are left out.
std::vector<location::node_id> executing_children(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                  executors who = executors::all);

/// The leaves below (or at) a node that execute, depth first. Empty when nothing there executes.
std::vector<location::node_id> executing_leaves(const location::tree& tree, location::node_id id, leaf_rule rule,
                                                executors who = executors::all);

}  // namespace tessera::hierarchy
