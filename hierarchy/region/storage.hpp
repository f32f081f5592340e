#pragma once
// What the handles of region.hpp refer to.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "core/base/lifetime.hpp"
#include "core/location/tree.hpp"
#include "hierarchy/region/array_memory.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/view_ledger.hpp"
#include "tessera/detail/array.hpp"
#include "tessera/detail/block_group.hpp"
#include "tessera/detail/order_point.hpp"
#include "tessera/detail/tiled_memory.hpp"

namespace tessera::validate {
class range_uses;
}

namespace tessera::hierarchy {

/// Of messages about rows that an array does not have.
inline constexpr const char* hint_of_rows =
    "rows(first, last) are those from first to last - 1; of none, first and last are the same";

/// An array: its tiles, and where it is. Whoever cuts it, and submits tasks that use its tiles, has it locked from the
/// first to the last; who needs several locks them in the order of their addresses.
class array_storage : public std::enable_shared_from_this<array_storage> {
 public:
  /// @param owner  of the memory; null: the program's  @param tree  that it is placed in, for `at` and `move`
  array_storage(runtime& of, std::string name, element_type type, void* memory, std::shared_ptr<const void> owner,
                const row_extents& extents, std::shared_ptr<live_tree> tree, location::node_id at,
                std::source_location site);
  /// The rows of an array that was given blocks, of whole rows. They outlive it.
  array_storage(runtime& of, std::string name, element_type type, std::vector<tiled_memory::tile> blocks,
                const row_extents& extents, std::shared_ptr<live_tree> tree, location::node_id at);
  ~array_storage() {
    if (m_number != 0) m_tree->leave(*this);
  }
  array_storage(const array_storage&) = delete;
  array_storage& operator=(const array_storage&) = delete;

  const row_extents& extents() const noexcept { return m_extents; }
  const std::string& name() const noexcept { return m_name; }
  element_type type() const noexcept { return m_type; }
  runtime& owner() const noexcept { return m_runtime; }
  const lifetime& alive() const noexcept { return *m_alive; }  ///< the owner's
  /// Bytes of all elements.
  std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(m_extents.count()) * size_of(m_type); }
  location::node_id at() const noexcept { return m_at.load(std::memory_order_relaxed); }
  live_tree& tree() const noexcept { return *m_tree; }
  /// Its number among the arrays of the tree, in which it is from then on; 0: none. With the tree's lock held.
  std::uint64_t number() const noexcept { return m_number; }
  void note_number(std::uint64_t number) noexcept { m_number = number; }  ///< likewise
  /// Expires when it has ended, tiles and all: behind the last handle, which another thread may have let go of.
  std::weak_ptr<const void> presence() const noexcept { return m_presence; }
  /// With the tree's lock held.
  void place(location::node_id to) noexcept {
    m_at.store(to, std::memory_order_relaxed);
    if (m_claimed != nullptr && !m_claimed->of_file) m_claimed->at = to;
  }
  /// What its memory counts; null: nothing, it is the program's or a file's. With the tree's lock held.
  const std::shared_ptr<memory_claim>& claimed() const noexcept { return m_claimed; }
  void take(std::shared_ptr<memory_claim> claimed) noexcept {
    m_claimed = std::move(claimed);
    place(at());
  }
  tiled_memory& tiles() noexcept { return *m_tiles; }  ///< with the lock held: `remake` makes others
  /// How far from where a region executes it is placed; nothing: it has a location of its own. Set before its first
  /// use.
  const std::optional<array_distance>& distance() const noexcept { return m_distance; }
  void set_distance(const array_distance& from) noexcept { m_distance = from; }
  /// Whether it is over memory that regions name by itself (fenced_memory.hpp). Set before its first use.
  bool is_of_fenced_memory() const noexcept { return m_of_fenced_memory; }
  void set_of_fenced_memory() noexcept { m_of_fenced_memory = true; }
  /// Whether its elements do not outlive the region that writes them.
  bool is_remade() const noexcept { return m_distance && m_distance->keeps == array_distance::form::realloc; }
  /// Gives its memory back when the tasks submitted before are done, and takes fresh pages; where there are none, it
  /// keeps its memory. With the lock held.
  void remake(std::source_location site) noexcept;
  /// Whether the last region that went through a small memory in parts began with the first rows (sweep.hpp). With the
  /// lock held.
  bool last_went_up() const noexcept { return m_went_up; }
  void note_sweep(bool up) noexcept { m_went_up = up; }  ///< likewise
  view_ledger& views() noexcept { return m_views; }      ///< with the lock held
  /// Throws usage for rows that there are not, and where the calling thread would wait for itself. With the lock held.
  void check_viewed(const row_interval& rows, intent how, std::source_location site) const;
  /// Rows in the hands of the program. Throws as array::read.
  detail::held_rows hold(intent how, const row_interval& rows, std::source_location site);
  /// The tiles of a view: one with just these rows, or what there is where tiles must stay, or where a view that reads
  /// would wait for another one because of its own tile. With the lock held. @param room  as of tiles_with
  std::span<const tiled_memory::tile> tiles_for_view(const row_interval& rows, intent how,
                                                     std::vector<tiled_memory::tile>& room, std::source_location site);
  /// True if other tiles for a reader of these rows could make it wait for a view that shares no element with them, as
  /// in view_ledger::cut_may_wait, or if the calling thread holds a view of any array: a region that waits for it may
  /// read this array, and an exchange would wait for that region. With the lock held.
  bool cut_may_wait(const row_interval& rows) const;
  /// Other tiles for a region that the calling thread records: at once where no recording uses the array, else in the
  /// replays alone. With the lock held.
  void cut_in_recording(const tiled_memory::ends_of_rows& to, std::source_location site);
  /// A recording names its tiles: they stay as they are as long as what this returns is kept. With the lock held.
  std::shared_ptr<const void> keep_tiles();
  /// Whether they do. With the lock held.
  bool keeps_tiles() const noexcept { return !m_kept.expired(); }
  /// Whether the array was given its tiles as blocks, which nobody cuts.
  bool has_own_blocks() const noexcept { return m_has_own_blocks; }

  /// Who has used which rows, for validation (rows_in_use.hpp). With the lock held.
  const std::shared_ptr<validate::range_uses>& uses();

  void lock() { m_mutex.lock(); }  ///< for submissions
  void unlock() { m_mutex.unlock(); }

 private:
  const std::shared_ptr<const void> m_presence = std::make_shared<const char>();  // the last member that ends
  std::mutex m_mutex;
  std::weak_ptr<const void> m_kept;  // by recordings
  view_ledger m_views;
  std::shared_ptr<validate::range_uses> m_uses;  // null: nobody has asked
  runtime& m_runtime;
  const std::shared_ptr<lifetime> m_alive;  // of the scheduler
  const std::string m_name;
  const element_type m_type;
  const row_extents m_extents;
  const std::shared_ptr<live_tree> m_tree;
  std::atomic<location::node_id> m_at;
  std::uint64_t m_number = 0;
  std::shared_ptr<memory_claim> m_claimed;
  std::unique_ptr<tiled_memory> m_tiles;
  std::optional<array_distance> m_distance;
  const bool m_has_own_blocks = false;
  bool m_of_fenced_memory = false;
  bool m_went_up = false;
};

/// Arrays that have ended may still have tasks, with which those of another array over the same elements would have no
/// order, and whose memory counts. Waits for them, where the thread may wait.
void finish_ended_arrays(runtime& of);

/// The block of a result, and those of its parts, one for each task of the largest region so far. Lock and unlock as
/// those of an array.
class reduction_storage {
 public:
  reduction_storage(runtime& of, std::string name, element_type type);
  ~reduction_storage();
  reduction_storage(const reduction_storage&) = delete;
  reduction_storage& operator=(const reduction_storage&) = delete;

  block::record& value() const noexcept { return *m_blocks.front(); }
  /// The k-th part, of so many elements, which are joined; made when it is asked for first. With the lock held.
  block::record& part(std::size_t k, std::int64_t elements, std::source_location site);
  element_type type() const noexcept { return m_type; }
  runtime& owner() const noexcept { return m_group.owner(); }
  const lifetime& alive() const noexcept { return *m_alive; }  ///< the owner's
  const std::string& name() const noexcept { return m_name; }

  void lock() {
    std::unique_lock held(m_mutex);
    owner().order_after(m_before);
    (void)held.release();
  }
  void unlock() {
    const std::unique_lock held(m_mutex, std::adopt_lock);
    owner().order_before(m_before);
  }

 private:
  std::string m_name;
  element_type m_type;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::mutex m_mutex;
  order_point m_before;
  detail::loose_blocks m_group;
  std::vector<block::record*> m_blocks;                                    // the value, then the parts of one element
  std::map<std::pair<std::size_t, std::int64_t>, block::record*> m_large;  // the others, by number and elements
};

}  // namespace tessera::hierarchy
