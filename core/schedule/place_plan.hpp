#pragma once
// Which places run tasks, and which worker belongs to which: a pure function from the tree of locations and its
// memories.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/location/tree.hpp"
#include "core/memory/space.hpp"

namespace tessera::schedule {

/// What planning knows of a memory space.
struct space_facts {
  location::node_id location = location::no_node;
  bool host_visible = false;
  bool storage = false;    ///< of a device that stores and runs nothing
  std::size_t device = 0;  ///< equal numbers: of one device
};

/// A place to be made.
struct planned_place {
  memory::space_number space = memory::no_space;
  bool is_host = false;
  std::vector<location::node_id> cores;  ///< host: where its workers can run
  std::uint32_t workers = 0;             ///< host: of this run
};
/// A worker of the run.
struct planned_worker {
  std::uint32_t place = 0;  ///< by number
  location::node_id location = location::no_node;
  std::vector<std::uint32_t> cpus;  ///< OS numbers; none: another worker has them, and this one floats
};

struct place_plan {
  std::vector<planned_place> places;         ///< by place number: host memories with workers first, then devices
  std::vector<planned_worker> workers;       ///< dealt over the cores in the order of the tree
  std::vector<memory::space_number> stores;  ///< the first space of each device that stores
};

/// One place per host memory that has CPU workers below it, in the order of the tree; then one per memory of a device
/// that computes. Throws tessera::error (configuration) for a tree without CPU workers.
/// @param spaces   by space number
/// @param workers  of the host; 0: one for each core
place_plan plan_places(const location::tree& tree, std::span<const space_facts> spaces, std::uint32_t workers);

}  // namespace tessera::schedule
