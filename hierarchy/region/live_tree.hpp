#pragma once
// The tree of locations as regions see it, which the program may edit while they run.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/location/tree.hpp"
#include "hierarchy/region/declared_memory.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera::hierarchy {

class array_storage;
class live_tree;

/// An array and where it is.
struct located_array {
  std::string name;
  std::uint64_t bytes = 0;
  location::node_id at = location::no_node;
};

/// While it is there, arrays that will be placed at some locations count there too, so that no two threads are promised
/// the same room. Made with the tree's lock held, let go of without.
class promised_room {
 public:
  promised_room() = default;
  promised_room(promised_room&& other) noexcept
      : m_tree(other.m_tree), m_promised(std::exchange(other.m_promised, {})) {}
  promised_room& operator=(promised_room&& other) noexcept {
    std::swap(m_tree, other.m_tree), m_promised.swap(other.m_promised);
    return *this;
  }
  ~promised_room();

 private:
  friend class live_tree;
  using promises = std::vector<std::pair<std::shared_ptr<memory_claim>, location::node_id>>;
  promised_room(live_tree& in, promises&& promised) noexcept : m_tree(&in), m_promised(std::move(promised)) {}
  live_tree* m_tree = nullptr;
  promises m_promised;
};

/// What regions have on one location that executes. Tasks keep it.
struct leaf_work {
  std::atomic<std::uint64_t> under_way{0};            ///< tasks that are planned and have not ended
  std::vector<std::weak_ptr<const void>> recordings;  ///< that have tasks here; with the tree's lock held
  void note_recorded(const std::shared_ptr<const void>& by);
};

/// The number of an attached location. Throws tessera::error (usage) with the nearest name. @param where  for messages
location::node_id attached_location(const location::tree& tree, std::string_view name, const std::string& where = {});
/// Throws what attached_location throws for a name that is none.
[[noreturn]] void refuse_location(const location::tree& tree, std::string_view name, const std::string& where);

/// A tree, the arrays that are placed in it, and the work on its locations: one for each runtime, whatever the number
/// of models. It begins as the runtime's own, which says where memories are and is never edited. Whoever plans a region
/// locks it from its look at the arrays' places until its tasks are counted, so that an edit finds all of them.
/// Thread-safe.
class live_tree {
 public:
  explicit live_tree(const location::tree& begin) : m_now(std::make_shared<const location::tree>(begin)) {}
  /// That of a runtime; made when it is asked for first, and kept as long as the runtime: what a model has edited holds
  /// for the next one too.
  static std::shared_ptr<live_tree> of(runtime& rt);

  /// As it is now; what is returned never changes.
  std::shared_ptr<const location::tree> now() const;
  /// attached_location, as it is now
  location::node_id at(std::string_view name, const std::string& where = {}) const;

  /// A new array, to be moved when its location leaves. Throws tessera::error (usage) where it is in memory of the
  /// program (`foreign`), and another one that has not ended has some of that: regions of the two would have no order.
  void enter(array_storage& array, bool foreign, std::source_location site);
  /// It ends, at the latest when nobody looks at it any more. Looks hold no array: the program may let go of one, and
  /// make another one over its memory, whatever other threads look at.
  void leave(array_storage& array) noexcept;
  /// Those that have not ended, in the order of their entering.
  std::vector<located_array> arrays() const;
  /// The name of the location that an array is at.
  std::string location_of(const array_storage& array) const;
  /// Bytes of an array that is to be made at a location. Throws tessera::error (memory), and nothing has changed, where
  /// that, or a location above it, declares less memory than there would be.
  std::shared_ptr<memory_claim> claim(const std::string& array, std::uint64_t bytes, location::node_id at, bool of_file,
                                      std::source_location site);
  /// They are this array's, wherever it is by now.
  void give(const std::shared_ptr<memory_claim>& claimed, array_storage& array) const;
  /// With the lock held, for arrays that are about to be placed. Throws as `claim` where some of them cannot be at
  /// these locations, all at once.
  promised_room require_room(const std::vector<std::pair<array_storage*, location::node_id>>& moving,
                             std::source_location site);

  /// Moves an array to an attached location. Throws as `at` and `claim`, and usage where it is a storage location: the
  /// elements would be no file there.
  void move(array_storage& array, std::string_view to, std::source_location site);
  /// To a location that has room for it; where that has left meanwhile, to the root.
  void place(array_storage& array, location::node_id to) const;

  /// While it is locked, nothing is edited and no array moves.
  void lock() { m_mutex.lock(); }
  void unlock() { m_mutex.unlock(); }
  /// With the lock held: as it is now.
  const std::shared_ptr<const location::tree>& held() const noexcept { return m_now; }
  /// With the lock held: the work on a location.
  const std::shared_ptr<leaf_work>& work_at(location::node_id leaf);

  /// The work on each of these, as far as there ever was any. It counts on.
  std::vector<std::shared_ptr<leaf_work>> works_at(const std::vector<location::node_id>& leaves) const;
  /// Whether a recording has tasks for one of these.
  bool any_recorded(const std::vector<location::node_id>& leaves) const;
  /// Where a location was before it was detached; no_node: it never was.
  location::node_id parent_before(location::node_id detached) const;

  /// Makes it another tree with the same numbers. An array whose location is not attached any more moves to the nearest
  /// one above that still is. Returns what was before. Throws tessera::error (memory), and nothing has changed, where
  /// arrays would come to a location that declares less memory than there would be.
  struct state {
    std::shared_ptr<const location::tree> tree;
    std::vector<std::pair<std::uint64_t, location::node_id>> moved;  ///< numbers of arrays, and where those were
    std::vector<std::pair<std::weak_ptr<memory_claim>, location::node_id>> moved_claims;  ///< likewise
  };
  state replace(const location::tree& next, std::source_location site);
  /// Takes that back.
  void restore(const state& before);
  /// Held by an edit from its look at the tree to its end: one at a time.
  std::mutex& edits() noexcept { return m_edits; }

 private:
  void check_apart(array_storage& array, std::source_location site) const;
  location::node_id kept_in(const location::tree& next, location::node_id at) const;
  void require_room_in(const location::tree& next, std::source_location site) const;
  friend class promised_room;
  mutable std::mutex m_mutex;  // of what follows
  std::shared_ptr<const location::tree> m_now;
  std::vector<std::shared_ptr<leaf_work>> m_work;            // by location; null: there never was any
  std::map<location::node_id, location::node_id> m_parents;  // of what was detached, before
  std::map<std::uint64_t, array_storage*> m_arrays;          // by their numbers, in the order of their entering
  std::map<std::uintptr_t, array_storage*> m_own;            // those in memory of the library, by where that ends
  std::uint64_t m_last_number = 0;                           // of an array
  declared_memory m_memory;
  std::mutex m_edits;
};

}  // namespace tessera::hierarchy
