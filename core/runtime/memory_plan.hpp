#pragma once
// Which memories a runtime has, and in which order: from a description to a plan, without devices.
#include <cstdint>
#include <span>
#include <vector>

#include "core/location/tree.hpp"
#include "core/memory/space.hpp"

namespace tessera {

/// What the plan looks at of a memory that a device offers.
struct memory_facts {
  bool is_host = false;     ///< host memory, which the program's threads see
  bool is_storage = false;  ///< of a device that stores and does not compute
};

/// One memory of the runtime; its number is its place in the plan.
struct planned_memory {
  location::node_id location = location::no_node;
  location::space_key space;                       ///< device and space of the registry
  std::uint64_t limit = 0;                         ///< bytes that blocks may take; 0: unlimited
  memory::space_number parent = memory::no_space;  ///< where evicted data go; no_space: nowhere
};

/// The memories that the tree names and a device offers: host memories first, so that they have the low numbers, each
/// group in the order of the tree. The parent of a memory is the nearest one above it in the tree, of the outermost
/// ones the storage, wherever it hangs. @param offered by device and space of the registry
/// @param host_limit bytes that each host memory may have at most; 0: what the tree says
/// Throws tessera::error (configuration) when there is none, or more than a runtime takes
/// (block::space_set::max_spaces).
std::vector<planned_memory> plan_memories(const location::tree& tree,
                                          std::span<const std::vector<memory_facts>> offered, std::uint64_t host_limit);

}  // namespace tessera
