#pragma once
// One memory space of one device, as the core manages it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/allocated_size.hpp"
#include "core/block/record.hpp"
#include "core/location/tree.hpp"
#include "core/memory/range_allocator.hpp"
#include "core/memory/registration_cache.hpp"
#include "core/memory/room_plan.hpp"
#include "core/memory/statistics.hpp"
#include "core/plugin/device.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::memory {

/// Number of a space in the runtime, below block::space_set::most.
using space_number = std::uint16_t;
inline constexpr space_number no_space = 0xffff;

/// Something that waits for memory to become free in a space. The owner keeps it alive until it is woken.
struct memory_waiter {
  std::uint64_t age = 0;                        ///< order of submission; the oldest is woken first
  void (*wake)(memory_waiter* self) = nullptr;  ///< called without locks held
  /// Called instead of wake when nothing can ever become free; null: the waiter is a task of the scheduler.
  void (*refuse)(memory_waiter* self) = nullptr;
};

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

/// Slabs, reservation and residents of one space. Thread-safe; its lock is taken after block locks, never before.
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
  std::uint64_t largest() const noexcept { return m_most_at_once; }
  /// What an allocation of `bytes` takes from the limit: a multiple of the granule, or where hosts compute a power of
  /// two below it.
  std::uint64_t allocated_size(std::uint64_t bytes) const noexcept {
    return tessera::allocated_size(bytes, m_granule, m_least);
  }
  /// Every block is rounded up by less than this.
  std::uint64_t granule() const noexcept { return m_granule; }
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
  /// Gives a chunk back; the caller calls notify() once it holds no block's lock.
  void give_back(block::chunk memory, std::uint64_t bytes);

  /// Gives slabs in which nothing is to the plugin. Returns their bytes.
  std::uint64_t give_slabs_back();
  /// Slabs given back to the plugin so far. Equal addresses mean the same memory only within one epoch: plugins use
  /// handles again. Read while the memory in question is reserved.
  std::uint64_t epoch() const noexcept { return m_epoch.load(std::memory_order_acquire); }

  /// Address of a chunk for plugins, and for the host where the space is host-visible (else null).
  tsr_address address_of(block::chunk memory) const noexcept {
    const slab& from = slab_of(memory.slab());
    return {from.memory, memory.offset()};
  }
  void* host_pointer(block::chunk memory) const noexcept {
    const slab& from = slab_of(memory.slab());
    return from.base == nullptr ? nullptr : from.base + memory.offset();
  }

  /// Memory of the program taken over by this (host) space as `parts` chunks (at least 1): the one returned, and others
  /// behind it at the offsets where they begin. It is registered once; it takes nothing from the limit, and none of it
  /// is a resident. `owner` is let go of with the last of its chunks. Throws tessera::error (memory) when the space has
  /// no entry left for it, and has taken over nothing then.
  block::chunk adopt_foreign(void* pointer, std::uint64_t bytes, std::size_t parts = 1,
                             std::shared_ptr<const void> owner = {});
  /// So many more chunks of memory that it has taken over, at any offsets; `memory` is one of its chunks.
  void share_foreign(block::chunk memory, std::size_t parts);
  /// Ends so many of those chunks. With the last one the memory is the program's alone again.
  void forget_foreign(block::chunk memory, std::size_t parts = 1);
  /// Whether a chunk is memory of the program.
  bool is_foreign(block::chunk memory) const noexcept { return slab_of(memory.slab()).foreign; }

  /// Blocks that have a replica here, for choosing victims. add/remove are called with the block's lock held.
  void add_resident(block::record& block);
  void remove_resident(block::record& block);
  struct resident {
    block::record* block = nullptr;
    std::uint64_t arrival = 0;  ///< order in which they came
  };
  std::vector<resident> residents() const;

  /// A stamp for replica::last_use; grows.
  std::uint32_t tick() noexcept { return m_clock.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Number of events so far that may have made memory available. Read it before a reservation that may fail.
  std::uint64_t events() const noexcept { return m_events.load(std::memory_order_acquire); }
  /// Queues a waiter until the next event, oldest first; false when events() has moved on from `seen`: try again now.
  bool wait_for_memory(memory_waiter& waiter, std::uint64_t seen);
  /// Something became evictable or free: wakes all waiters, the oldest first; each tries again.
  void notify();
  bool has_waiters() const noexcept { return m_waiter_count.load(std::memory_order_relaxed) != 0; }
  /// The next notify() here is passed on to `other`, whose evicted blocks find no room here now.
  void wake_too(space& other);
  /// Takes the oldest waiter out without waking it; null when there is none.
  memory_waiter* take_oldest_waiter();
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
  struct slab {
    tsr_memory* memory = nullptr;
    std::byte* base = nullptr;                // host-visible slabs; foreign slabs: the user's pointer
    std::unique_ptr<range_allocator> ranges;  // null: foreign or freed
    bool foreign = false;                     // from its first chunk to its last
    std::size_t foreign_parts = 0;            // chunks of it that are left; under m_mutex
    std::shared_ptr<const void> owner;        // of foreign memory; null: the program frees it
    std::vector<const plugin::device*> registered;
  };
  static constexpr std::size_t slabs_per_page = 256, max_pages = 256;

  slab& slab_of(std::uint32_t number) const noexcept {
    return m_pages[number / slabs_per_page].load(std::memory_order_acquire)[number % slabs_per_page];
  }
  std::uint32_t new_slab_entry();                                         // under m_mutex
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
  std::shared_ptr<const void> forget_entry(block::chunk memory);  // of memory of the program
  void note_slab(std::uint64_t began, std::uint64_t bytes);       // likewise
  void note_use();                                                // under m_mutex, while recording
  bool uncache();      // under m_mutex: cached chunks back to their slabs; whether that may have joined some
  void join_pieces();  // under m_mutex: cached pieces with their cached other halves
  bool trim();         // under m_mutex: empty slabs back to the plugin; whether there were any

  trace::tracer* m_tracer = nullptr;
  space_setup m_setup;
  std::string m_name;
  std::uint64_t m_most_at_once = ~std::uint64_t{0};  // of one allocation
  std::uint64_t m_limit, m_granule, m_least;         // the least of footprints: below the granule, powers of two
  bool m_host_visible;

  mutable std::mutex m_mutex;
  // Two levels, so that address_of needs no lock: entries never move.
  std::unique_ptr<std::atomic<slab*>[]> m_pages;
  std::uint32_t m_slab_count = 0;
  std::vector<std::uint32_t> m_free_entries;  // of foreign slabs and of those given back, for reuse
  std::uint64_t m_foreign_pieces = 0;
  std::uint64_t m_slab_total = 0, m_peak = 0;
  std::string m_alloc_trouble;      // the last refusal of the plugin, until a slab is had
  std::uint32_t m_alloc_tries = 0;  // since then, by threads that found nothing else to do
  bool m_abandoned = false;
  std::uint64_t m_allocations = 0, m_reuses = 0;
  std::atomic<std::uint64_t> m_used{0}, m_exhausted{0};  // written under m_mutex, read by any thread
  std::unordered_map<std::uint64_t, std::vector<block::chunk>>
      m_cached;             // freed chunks by rounded size, and rests of granules
  bool m_may_join = false;  // something was freed since uncache()
  page_grid m_grid;
  std::uint64_t m_next_choice = 16;  // of a grid, after so many allocations
  std::vector<resident> m_residents;
  std::uint64_t m_arrivals = 0;
  std::vector<std::uint32_t>
      m_resident_places;  // by the block's slot in the table: its place in m_residents, from 1; 0: not there
  std::vector<memory_waiter*> m_waiters;  // heap, oldest on top
  std::vector<space*> m_wake_too;         // counted in m_waiter_count
  std::atomic<std::size_t> m_waiter_count{0};
  std::atomic<std::uint64_t> m_events{0};
  std::atomic<std::uint64_t> m_epoch{0};  // written under m_mutex
  std::atomic<std::uint32_t> m_clock{0};
  std::atomic<std::uint64_t> m_evictions{0};
};

}  // namespace tessera::memory
