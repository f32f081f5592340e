#include "core/memory/range_allocator.hpp"

#include <iterator>

namespace tessera::memory {

range_allocator::range_allocator(std::uint64_t capacity, std::uint64_t granule)
    : m_capacity(capacity / granule * granule), m_granule(granule) {
  if (m_capacity > 0) insert(0, m_capacity);
}

std::uint64_t range_allocator::rounded(std::uint64_t bytes) const noexcept {
  return bytes == 0 ? m_granule : (bytes + m_granule - 1) / m_granule * m_granule;
}

void range_allocator::insert(std::uint64_t offset, std::uint64_t bytes) {
  m_by_offset.emplace(offset, bytes);
  m_by_size.emplace(bytes, offset);
}

std::optional<std::uint64_t> range_allocator::allocate(std::uint64_t bytes, page_grid grid) {
  const std::uint64_t wanted = rounded(bytes);
  for (auto best = m_by_size.lower_bound({wanted, 0}); best != m_by_size.end(); ++best) {
    const auto [size, offset] = *best;
    const std::uint64_t place = grid.first_place(offset, wanted), before = place - offset;
    if (before + wanted > size) continue;
    m_by_size.erase(best);
    m_by_offset.erase(offset);
    if (before > 0) insert(offset, before);
    if (size > before + wanted) insert(place + wanted, size - before - wanted);
    m_used += wanted;
    return place;
  }
  return std::nullopt;
}

void range_allocator::release(std::uint64_t offset, std::uint64_t bytes) {
  std::uint64_t size = rounded(bytes);
  m_used -= size;
  const auto next = m_by_offset.lower_bound(offset);
  if (next != m_by_offset.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      m_by_size.erase({previous->second, previous->first});
      m_by_offset.erase(previous);
    }
  }
  if (next != m_by_offset.end() && offset + size == next->first) {
    size += next->second;
    m_by_size.erase({next->second, next->first});
    m_by_offset.erase(next);
  }
  insert(offset, size);
}

}  // namespace tessera::memory
