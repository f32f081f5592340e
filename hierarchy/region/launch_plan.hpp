#pragma once
// What is decided about a launch before its tasks are made.
#include <memory>
#include <vector>

#include "hierarchy/region/launch_history.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/request.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// Where a region's tasks run, what each of them has, and what is told when they end.
struct launch_plan {
  std::shared_ptr<const location::tree> tree;
  location::node_id at = location::no_node;
  location::node_id executes = location::no_node;  ///< the location around its leaves, where arrays go by distance
  std::shared_ptr<const policy> rule;
  std::shared_ptr<launch_history::entry> past;
  std::shared_ptr<const plan> split;
  std::vector<row_interval> parts;          ///< the tasks' own rows
  std::vector<detail::piece_count> counts;  ///< of each piece; none: it is recorded
  bool recorded = false;
  std::shared_ptr<const void> kept;                            ///< by the recording
  bool devices = false;                                        ///< whether one takes part
  bool goes_on = false;                                        ///< a device has not done yet what was submitted before
  std::vector<std::shared_ptr<region_leaf_times>> unmeasured;  ///< of devices, with the policy auto
  std::shared_ptr<launch_span> span;                           ///< likewise; null: nobody wants to know
  promised_room room;                                          ///< for arrays that are placed by distance
};

/// Where an array that has no location of its own is for a launch: where that executes, or above.
location::node_id placed_from(const launch_plan& launch, const array_storage& array);

}  // namespace tessera::hierarchy
