#pragma once
// Which parts of one slab are free. Pure bookkeeping: knows offsets only.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/memory/page_grid.hpp"

namespace tessera::memory {

/// Best-fit allocation of ranges in [0, capacity) with coalescing of neighbours. Sizes are rounded up to the granule,
/// so blocks of one array share a size and fit each other's holes exactly. O(log n). Not thread-safe.
class range_allocator {
 public:
  /// @param granule  all offsets and sizes are multiples of it; a power of two
  range_allocator(std::uint64_t capacity, std::uint64_t granule);

  /// Offset of a free range of at least `bytes`, now in use, where the grid allows it; nullopt: no such range. 0 bytes
  /// take one granule. @param grid  of whole granules; looks at those free ranges in which its pages leave no place
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, page_grid grid = {});
  /// Gives a range back. `bytes` as in the allocation.
  void release(std::uint64_t offset, std::uint64_t bytes);

  std::uint64_t rounded(std::uint64_t bytes) const noexcept;
  std::uint64_t capacity() const noexcept { return m_capacity; }
  std::uint64_t used() const noexcept { return m_used; }
  /// The largest allocation that would succeed.
  std::uint64_t largest_free() const noexcept { return m_by_size.empty() ? 0 : m_by_size.rbegin()->first; }
  /// Offsets of the free ranges, by which their bytes are found; no two are neighbours.
  const std::map<std::uint64_t, std::uint64_t>& free_ranges() const noexcept { return m_by_offset; }

 private:
  void insert(std::uint64_t offset, std::uint64_t bytes);

  std::uint64_t m_capacity, m_granule, m_used = 0;
  std::map<std::uint64_t, std::uint64_t> m_by_offset;           // free ranges: offset -> bytes
  std::set<std::pair<std::uint64_t, std::uint64_t>> m_by_size;  // (bytes, offset)
};

}  // namespace tessera::memory
