#pragma once
// The tree of locations as regions see it.
#include <memory>
#include <source_location>
#include <string_view>

#include "tessera/detail/runtime.hpp"

namespace tessera {

class lifetime;

namespace hierarchy {
class live_tree;
class tree_edits;
}  // namespace hierarchy

/// The tree of a runtime as regions see it, and its edits while they run, which hold for all models of the runtime. The
/// runtime's own tree (runtime::tree), which says where memories are, stays as it is. Each edit is made as a whole, or
/// throws tessera::error and changes nothing; inside a task or a recording, and while the thread holds views, it is an
/// error (usage). All functions from any thread. What a location_model is beside its arrays and regions.
class editable_tree {
 public:
  /// Takes a location, with all below it, out of the tree. Regions submitted later do not run there; devices are
  /// detached as by runtime::detach: what is queued is placed again, what only they have comes home. Arrays that are
  /// placed there move to the nearest location above. Returns when the tasks that regions had there have ended. Throws
  /// usage: the root, an unknown or detached location, the last cores of the host; and what runtime::detach throws.
  void detach(std::string_view location, std::source_location site = std::source_location::current());
  /// Puts a detached location, with what was detached with it, below a parent; "": where it was. Regions submitted
  /// later get its leaves too. Throws usage: an attached or unknown location, a parent that is not attached; and what
  /// runtime::attach throws.
  void attach(std::string_view location, std::string_view parent = {},
              std::source_location site = std::source_location::current());
  /// Moves a location, with all below it, to another parent; it has one. Tasks under way are not affected. Throws
  /// usage: the root, unknown locations, a parent that is at or below it (a cycle), or that executes itself.
  void reparent(std::string_view location, std::string_view parent,
                std::source_location site = std::source_location::current());
  /// Makes the tree another one, by the names of its locations: `read_tree` (<tessera/machine.hpp>) gives that of a
  /// file. What it does not have is detached, what it has is attached where it says, and groups may be new; devices,
  /// cores and disks are those of the runtime, under their names. Throws configuration where they are not; and as
  /// detach and attach.
  void arrange(const location::tree& wanted, std::source_location site = std::source_location::current());
  /// Whether a location is in the tree. Throws usage where there never was one of this name.
  bool attached(std::string_view location, std::source_location site = std::source_location::current()) const;
  /// The tree as it is now; what is returned never changes.
  std::shared_ptr<const location::tree> tree() const;

  /// As given. Throws tessera::error (usage) when it has ended, as all functions do then but `attached` and `tree`.
  runtime& owner(std::source_location site = std::source_location::current()) const;

 protected:
  /// Of a runtime, which outlives it. For location_model.
  explicit editable_tree(runtime& of);
  ~editable_tree();  ///< likewise
  editable_tree(const editable_tree&) = delete;
  editable_tree& operator=(const editable_tree&) = delete;
  const std::shared_ptr<hierarchy::live_tree>& live() const noexcept { return m_live; }  ///< for the runtime
  hierarchy::tree_edits edits(std::source_location site) const;                          ///< likewise
  const std::shared_ptr<lifetime>& alive() const noexcept { return m_alive; }  ///< likewise: what the end visits

 private:
  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::shared_ptr<hierarchy::live_tree> m_live;
};

}  // namespace tessera
