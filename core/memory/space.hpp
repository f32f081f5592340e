#pragma once
// One memory space of one device, as the core manages it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/allocated_size.hpp"
#include "core/block/record.hpp"
#include "core/location/tree.hpp"
#include "core/memory/chunk_cache.hpp"
#include "core/memory/foreign_memory.hpp"
#include "core/memory/freed_slabs.hpp"
#include "core/memory/range_allocator.hpp"
#include "core/memory/registration_cache.hpp"
#include "core/memory/resident_list.hpp"
#include "core/memory/room_plan.hpp"
#include "core/memory/slab_table.hpp"
#include "core/memory/statistics.hpp"
#include "core/memory/waiters.hpp"
#include "core/plugin/device.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::memory {

/// Number of a space in the runtime, below block::space_set::max_spaces.
using space_number = std::uint16_t;
inline constexpr space_number no_space = 0xffff;

/// What a space is made of.
struct space_setup {
  space_number number = 0;
  const plugin::device* device = nullptr;
  std::uint32_t device_space = 0;
  location::node_id location = location::no_node;
  std::uint64_t limit = 0;       ///< bytes that blocks may take; 0: the capacity that the device reports
  std::uint64_t slab_bytes = 0;  ///< what to ask of the plugin at once, when as much is in use
  /// Devices that want this (host) memory registered when a slab is born, so that their copies are fast.
  std::vector<const plugin::device*> register_with;
  registration_cache* registrations = nullptr;  ///< for adopted user memory; may be null
};

/// All-or-nothing reservation in slabs that a plugin gives. Its parts have contracts of their own: what waits for room,
/// who is here, memory of the program. Thread-safe; locks are taken after block locks, never before.
class space {
 public:
  explicit space(space_setup setup);
  ~space();
  space(const space&) = delete;
  space& operator=(const space&) = delete;

  /// Writes the bytes in use down from now on. Before anything is reserved.
  void record_to(trace::tracer& events) noexcept { m_tracer = &events; }

  space_number number() const noexcept { return m_setup.number; }
  const plugin::device& device() const noexcept { return *m_setup.device; }
  std::uint32_t device_space() const noexcept { return m_setup.device_space; }
  location::node_id location() const noexcept { return m_setup.location; }
  const std::string& name() const noexcept { return m_name; }
  /// Bytes that blocks may take here; ~0: unlimited.
  std::uint64_t limit() const noexcept { return m_limit; }
  /// Bytes of the largest block: what the device allocates at once, whatever the limit.
  std::uint64_t largest() const noexcept { return m_max_at_once; }
  /// What an allocation of `bytes` takes from the limit: a multiple of the granule, or where hosts compute a power of
  /// two below it.
  std::uint64_t allocated_size(std::uint64_t bytes) const noexcept {
    return tessera::allocated_size(bytes, m_granule, m_least);
  }
  /// Every block is rounded up by less than this.
  std::uint64_t granule() const noexcept { return m_granule; }
  /// Whether a block of so many bytes is a slab by itself: then any others that leave make room for it, wherever they
  /// lie. So it is in a memory of the host that no device has registered, from `slab_bytes` on.
  bool is_own_slab(std::uint64_t bytes) const noexcept {
    return m_slabs_are_cheap && allocated_size(bytes) >= m_setup.slab_bytes;
  }
  /// Whether it is memory of the host, where its workers compute and views are. Managed memory of a device is the
  /// device's, although the host could read it.
  bool host_visible() const noexcept { return m_host_visible; }
  tsr_space_ref reference() const noexcept { return {m_setup.device->handle(), m_setup.device_space}; }

  /// Memory for all of the sizes, or for none of them (returns false). Never waits. Where they do not fit in the order
  /// given, the largest is placed first; where the grid leaves no place, they lie anywhere. A plugin that refuses a
  /// slab, whatever its reason, makes the space full.
  bool reserve(std::span<const std::uint64_t> sizes, std::span<block::chunk> out_chunks);
  /// What is free: whole granules, also such as the plugin has not been asked for, unless it has refused some.
  std::vector<piece> free_pieces() const;
  /// Where blocks are placed as long as that is possible. Follows from the sizes of those that are here.
  page_grid grid() const;
  /// Gives a chunk back and wakes waiters.
  void release(block::chunk memory, std::uint64_t bytes);
  /// Gives a chunk back; the caller calls waiters().notify() once it holds no block's lock.
  void give_back(block::chunk memory, std::uint64_t bytes);

  /// Gives slabs in which nothing is to the plugin. Returns their bytes.
  std::uint64_t give_slabs_back();
  /// Slabs given back to the plugin so far. Equal addresses mean the same memory only within one epoch: plugins use
  /// handles again. Read while the memory in question is reserved.
  std::uint64_t epoch() const noexcept { return m_epoch.load(std::memory_order_acquire); }

  /// Address of a chunk for plugins, and for the host where the space is host-visible (else null).
  tsr_address address_of(block::chunk memory) const noexcept {
    const slab& from = m_slabs.at(memory.slab());
    return {from.memory, memory.offset()};
  }
  void* host_pointer(block::chunk memory) const noexcept {
    const slab& from = m_slabs.at(memory.slab());
    return from.base == nullptr ? nullptr : from.base + memory.offset();
  }

  /// What waits for room here, and is told of events that may have made some.
  class waiters& waiters() noexcept {
    return m_waiters;
  }
  const class waiters& waiters() const noexcept { return m_waiters; }
  /// The blocks that have a replica here.
  resident_list& residents() noexcept { return m_residents; }
  const resident_list& residents() const noexcept { return m_residents; }
  /// Memory of the program that a space of the host has taken over.
  foreign_memory& foreign() noexcept { return m_foreign; }
  const foreign_memory& foreign() const noexcept { return m_foreign; }

  /// A stamp for replica::last_use; grows.
  std::uint32_t tick() noexcept { return m_clock.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// What the plugin answered when it last refused a slab, if nothing was allocated since; else empty.
  std::string alloc_trouble() const;
  /// Another attempt at a refused slab is worth it: a few times in a row.
  bool may_try_again();
  /// The slabs stay with the plugin for ever: work that cannot be stopped may still use them. Before destruction.
  void abandon() noexcept { m_abandoned = true; }
  /// Whether a reservation has ever failed here.
  bool was_full() const noexcept { return m_exhausted.load(std::memory_order_relaxed) != 0; }
  /// Bytes in blocks; may be a moment old.
  std::uint64_t used() const noexcept { return m_used.load(std::memory_order_relaxed); }
  /// Counts a replica that was dropped or written back to make room.
  void count_eviction() noexcept { m_evictions.fetch_add(1, std::memory_order_relaxed); }

  space_statistics statistics() const;

 private:
  std::uint64_t next_slab() const;                                        // under m_mutex
  bool grow(std::uint64_t at_least);                                      // under m_mutex
  bool make_slab(std::uint64_t bytes);                                    // under m_mutex
  std::optional<block::chunk> take(std::uint64_t bytes, page_grid grid);  // under m_mutex
  bool take_all(std::span<const std::uint64_t> sizes, std::span<block::chunk> out_chunks,
                std::span<const std::size_t> order, page_grid grid);     // under m_mutex
  bool may_fit(std::span<const std::uint64_t> sizes) const;              // under m_mutex
  void choose_grid();                                                    // under m_mutex
  std::optional<block::chunk> find(std::uint64_t size, page_grid grid);  // under m_mutex: nothing cached is so large
  void put_back(block::chunk memory, std::uint64_t bytes);               // under m_mutex
  void free_memory(tsr_memory* memory) noexcept;
  void free_slab(slab& s) noexcept;
  void note_slab(std::uint64_t began, std::uint64_t bytes);       // under m_mutex, while recording
  void note_use();                                                // likewise
  std::optional<block::chunk> find_own_slab(std::uint64_t size);  // under m_mutex: a slab for itself
  bool is_short_of(std::uint64_t bytes) const;                    // under m_mutex
  bool is_whole(block::chunk memory, std::uint64_t size) const;   // under m_mutex: all of a slab that may be given back
  std::uint64_t let_go(std::uint64_t at_least);  // under m_mutex: freed slabs back to the plugin, the oldest first
  bool uncache();  // under m_mutex: cached chunks back to their slabs; whether that may have joined some
  bool trim();     // under m_mutex: empty slabs back to the plugin; whether there were any

  trace::tracer* m_tracer = nullptr;
  space_setup m_setup;
  std::string m_name;
  std::uint64_t m_max_at_once = ~std::uint64_t{0};  // of one allocation
  std::uint64_t m_limit, m_granule, m_least;        // the least of footprints: below the granule, powers of two
  bool m_host_visible, m_slabs_are_cheap;

  slab_table m_slabs;
  foreign_memory m_foreign;
  resident_list m_residents;
  class waiters m_waiters;

  mutable std::mutex m_mutex;
  std::vector<std::uint32_t> m_own;  // slabs that the plugin has given, the oldest first
  std::uint64_t m_slab_total = 0, m_peak = 0;
  std::string m_alloc_trouble;      // the last refusal of the plugin, until a slab is had
  std::uint32_t m_alloc_tries = 0;  // since then, by threads that found nothing else to do
  bool m_abandoned = false;
  std::uint64_t m_allocations = 0, m_reuses = 0;
  std::atomic<std::uint64_t> m_used{0}, m_exhausted{0};  // written under m_mutex, read by any thread
  chunk_cache m_cached;
  freed_slabs m_whole;
  page_grid m_grid;
  std::uint64_t m_next_choice = 16;       // of a grid, after so many allocations
  std::atomic<std::uint64_t> m_epoch{0};  // written under m_mutex
  std::atomic<std::uint32_t> m_clock{0};
  std::atomic<std::uint64_t> m_evictions{0};
};

}  // namespace tessera::memory
