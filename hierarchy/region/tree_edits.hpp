#pragma once
// Edits of the tree of locations while regions run.
#include <functional>
#include <source_location>
#include <string_view>

#include "core/location/tree.hpp"
#include "hierarchy/region/live_tree.hpp"

namespace tessera::hierarchy {

/// `now` with the arrangement of `wanted`, by the names of locations: those that `wanted` has are attached as there,
/// the others detached, and new groups and memories added. The roots are the same, whatever their names. Pure. Throws
/// tessera::error (configuration) where something that executes or stores is not in `now` under its name, or is another
/// device or other cores there.
location::tree arranged(const location::tree& now, const location::tree& wanted);

/// The edits of one runtime's tree. Each of them is made as a whole or throws and changes nothing. Any thread of the
/// program; not inside a task or a recording, and not while the thread holds views (usage).
///
/// What leaves: no region that is submitted later gets it; devices are detached from the runtime, which places queued
/// tasks again and writes sole copies back; arrays that were placed there move to the nearest location above; and the
/// edit returns when the tasks that regions had there have ended. What comes is there for the next region.
class tree_edits {
 public:
  tree_edits(runtime& of, live_tree& tree) : m_runtime(of), m_tree(tree) {}

  /// Throws usage for the root, an unknown or detached location, and where nothing of the host would be left to run
  /// regions; and what runtime::detach throws.
  void detach(std::string_view location, std::source_location site);
  /// Throws usage for a location that is attached, and for an unknown parent; and what runtime::attach throws.
  void attach(std::string_view location, std::string_view parent, std::source_location site);
  /// Throws usage for the root, unknown locations and cycles.
  void reparent(std::string_view location, std::string_view parent, std::source_location site);
  /// Throws as `arranged`, `detach` and `attach`.
  void arrange(const location::tree& wanted, std::source_location site);
  /// Waits for the tasks of regions at or below a location; where recordings have tasks there, for everything. Throws
  /// no failure of theirs.
  void wait_below(std::string_view location, std::source_location site);
  /// Throws usage inside a task or a recording, and while the thread holds views. @param call  for messages
  void require_may_wait(std::string_view call, std::source_location site) const;

 private:
  using change = std::function<void(location::tree&)>;
  void edit(std::source_location site, const change& by);
  live_tree::state replace(const location::tree& next, std::source_location site);
  void wait_for(const std::vector<location::node_id>& leaves);
  std::vector<location::node_id> devices_among(const std::vector<location::node_id>& nodes, bool attached) const;
  bool is_lost(location::node_id device) const;

  runtime& m_runtime;
  live_tree& m_tree;
};

}  // namespace tessera::hierarchy
