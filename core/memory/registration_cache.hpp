#pragma once
// User memory made fast for the copies of discrete devices, and kept that way.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/plugin/device.hpp"

namespace tessera::memory {

/// Counters; a snapshot.
struct registration_statistics {
  std::uint64_t hits = 0, misses = 0, evictions = 0, refused = 0;
  std::uint64_t bytes = 0;  ///< registered now
};

/// Page-locking costs 10 to 100 times a plain allocation, so that a region is registered once with every device that
/// wants it and found again by address, interior pointers included. Regions in use are never given up; kept ones are,
/// least recently used first, when the limit on registered bytes or regions is passed. Where a device refuses, copies
/// stay slower and right. Thread-safe; calls plugins while it holds its own lock only.
class registration_cache {
 public:
  /// @param devices  those whose tables have host_register and host_unregister
  registration_cache(std::vector<const plugin::device*> devices, std::uint64_t byte_limit,
                     std::size_t region_limit = 256);
  ~registration_cache();
  registration_cache(const registration_cache&) = delete;
  registration_cache& operator=(const registration_cache&) = delete;

  /// [pointer, pointer + bytes) is about to be used; match with release. A hit when it lies in a registered region.
  void acquire(void* pointer, std::uint64_t bytes);
  /// Ends one use. A region that is not kept is unregistered with its last use: its memory may be freed next.
  void release(void* pointer);

  /// Registers and keeps a region until forget (or until the limit pushes it out while it is unused).
  void keep(void* pointer, std::uint64_t bytes);
  /// Unregisters a kept region; the owner is about to free it. Throws tessera::error (usage) while it is in use.
  void forget(void* pointer);

  registration_statistics statistics() const;

 private:
  struct region {
    std::uintptr_t begin = 0, end = 0;
    std::size_t uses = 0;
    bool kept = false;
    std::uint64_t last_use = 0;
    std::vector<const plugin::device*> with;  // none: it is not registered
    bool may_go() const noexcept { return kept && uses == 0 && !with.empty(); }
  };
  region* find(std::uintptr_t begin, std::uintptr_t end);
  region& add(std::uintptr_t begin, std::uintptr_t end);
  void drop(std::map<std::uintptr_t, region>::iterator it);
  void shrink(std::uint64_t coming);
  bool overlaps(std::uintptr_t begin, std::uintptr_t end) const;
  void begin_use(region& r);

  std::vector<const plugin::device*> m_devices;
  std::uint64_t m_byte_limit;
  std::size_t m_region_limit;
  mutable std::mutex m_mutex;
  std::map<std::uintptr_t, region> m_regions;  // by begin
  std::map<std::uintptr_t, std::uintptr_t>
      m_registered;  // begin and end of those registered with a device: they are disjoint
  std::map<std::uint64_t, std::uintptr_t> m_may_go;  // by last use: begin of those that the limits may push out
  // Which region serves an acquired pointer: release is given the pointer only, and a region that overlaps a registered
  // one (and is therefore not registered itself) may begin nearer to it.
  std::multimap<std::uintptr_t, std::uintptr_t> m_served_by;
  std::uint64_t m_clock = 0;
  registration_statistics m_statistics;
};

}  // namespace tessera::memory
