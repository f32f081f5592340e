#pragma once
// The tree of locations: pure data, no discovery. Everything that places work or data asks this tree.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::location {

/// What a node stands for.
enum class kind : std::uint8_t {
  machine,        ///< the root of one machine (of one rank)
  memory,         ///< memory that its descendants share (a NUMA domain)
  worker,         ///< something that executes: a CPU core (memory of its nearest ancestor) or a device with own memory
  virtual_group,  ///< a named group without memory or workers of its own
  storage         ///< a disk or other store
};
std::string_view name_of(kind k) noexcept;

using node_id = std::uint32_t;
inline constexpr node_id no_node = ~node_id{0};

/// A memory space that a plugin offers: device number in the registry and space number in the device.
struct space_key {
  std::uint32_t device = 0;  ///< number in the registry
  std::uint32_t space = 0;   ///< number in the device
  /// The same space.
  friend bool operator==(const space_key&, const space_key&) = default;
};

/// The properties of a location; its place in the tree is the tree's business.
struct properties {
  tessera::location::kind kind = tessera::location::kind::virtual_group;  ///< what it stands for
  std::string name;                     ///< unique in the tree: "numa0", "core1", "sim0", "LocA"
  std::string type;                     ///< loctype name, or what hwloc calls it
  std::optional<space_key> space;       ///< own memory, if it has any
  std::optional<std::uint32_t> device;  ///< device that executes here (host devices too)
  std::vector<std::uint32_t> cpus;      ///< OS numbers of the CPUs here (workers on the host)
  std::uint64_t memory_bytes = 0;       ///< 0: unknown
  double bandwidth = 0;                 ///< bytes per second to the parent; 0: unknown
  double latency_ns = 0;                ///< of one access from the parent; 0: unknown
  std::int32_t numa_node = -1;          ///< number of the operating system; -1: unknown or none
  std::string pci_address;              ///< "0000:41:00.0"; empty: none
  std::string folder = {};              ///< of storage: its directory, absolute; empty: not known
  std::uint64_t declared_bytes = 0;     ///< what a declaration allows to be allocated here; 0: it says nothing
  std::string declared_at = {};         ///< where it says that: "node.toml:12:3"
};

/// A node as seen from outside. The head of a detached branch has no parent.
struct node {
  node_id id = no_node;                      ///< its number, which never changes
  node_id parent = no_node;                  ///< no_node: the root, or the head of a detached branch
  std::vector<node_id> children;             ///< in order of attachment
  tessera::location::properties properties;  ///< what it is
};

/// The tree. Nodes are never renumbered; a detached branch keeps its ids and can be attached again. Every edit leaves a
/// valid tree or throws tessera::error (kind configuration) and changes nothing. Not thread-safe; its owner locks.
class tree {
 public:
  /// A tree of one node.
  explicit tree(properties root);

  node_id root() const noexcept { return 0; }                    ///< always attached
  const node& at(node_id id) const;                              ///< throws for an id that never existed
  std::optional<node_id> find(std::string_view name) const;      ///< attached or not
  std::size_t known() const noexcept { return m_nodes.size(); }  ///< ids are 0 .. known() - 1, attached or not
  bool attached(node_id id) const;                               ///< reachable from the root
  std::size_t size() const noexcept;                             ///< number of attached nodes
  std::uint64_t epoch() const noexcept;                          ///< grows with every edit

  node_id add(node_id parent, properties is);  ///< throws when the name exists or is empty
  void detach(node_id id);                     ///< the branch stays known; not the root
  void attach(node_id id, node_id parent);     ///< throws for a cycle or a node that has a parent
  void reparent(node_id id, node_id parent);   ///< throws for a cycle and for the root
  properties& edit(node_id id);                ///< e.g. a capacity; not the name

  std::size_t depth(node_id id) const;                   ///< 0 for the root
  std::string path(node_id id) const;                    ///< "machine/numa0/core1"
  bool is_ancestor(node_id ancestor, node_id id) const;  ///< a node is its own ancestor
  node_id common_ancestor(node_id a, node_id b) const;   ///< deepest; throws for nodes of different branches
  std::size_t distance(node_id a, node_id b) const;      ///< edges between them

  /// Where a computation on data at these locations runs: the deepest of them, provided all lie on one path to the
  /// root (Gecko's most common descendant); nullopt otherwise, for a detached location, or when the list is empty.
  std::optional<node_id> most_common_descendant(std::span<const node_id> locations) const;

  /// Leaves below (or at) a node, depth first, in order of attachment.
  std::vector<node_id> leaves(node_id id) const;
  /// All nodes below (and including) a node, depth first, parents before children; of a detached branch too.
  std::vector<node_id> subtree(node_id id) const;
  /// The node whose memory a location uses: itself if it has a space, else the nearest ancestor with one; no_node:
  /// none.
  node_id memory_of(node_id id) const;
  /// The next memory above the memory of `id`: where evicted data goes. Looks at ancestors first; an ancestor without
  /// memory of its own offers its first direct child of kind memory (a GPU next to NUMA domains under a machine goes to
  /// the first domain), else the first memory below it that is not below a worker. Host memory looks at ancestors only.
  /// no_node for the topmost host memory unless a storage node exists, and for storage: following parent_memory always
  /// ends.
  node_id parent_memory(node_id id) const;

 private:
  std::vector<node> m_nodes;
  std::vector<bool> m_attached;
  std::uint64_t m_epoch = 0;
  std::size_t m_attached_count = 0;
  std::map<std::string, node_id, std::less<>> m_by_name;

  const node& checked(node_id id) const;
  void link(node_id id, node_id parent);
  void unlink(node_id id);
  void mark(node_id id, bool attached);
  void require_no_cycle(node_id id, node_id parent) const;
  node_id first_memory(node_id top, node_id excluded, std::optional<space_key> other_than) const;
  node_id first_storage(node_id memory) const;
};

}  // namespace tessera::location
