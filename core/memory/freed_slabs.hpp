#pragma once
// Slabs of one block each that are free: used again as they are, or given back to the plugin.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/block/record.hpp"

namespace tessera::memory {

/// For one thread at a time.
class freed_slabs {
 public:
  struct slab_piece {
    block::chunk memory;
    std::uint64_t bytes;
  };

  void put(block::chunk memory, std::uint64_t bytes) {
    m_free.push_back({memory, bytes});
    m_bytes += bytes;
  }
  /// The one of exactly this size that was freed last, whose pages are likely in a cache.
  std::optional<block::chunk> take(std::uint64_t bytes) {
    const auto found =
        std::find_if(m_free.rbegin(), m_free.rend(), [&](const slab_piece& s) { return s.bytes == bytes; });
    if (found == m_free.rend()) return std::nullopt;
    const block::chunk memory = found->memory;
    m_free.erase(std::next(found).base());
    m_bytes -= bytes;
    return memory;
  }
  /// The ones that were freed first, of so many bytes together if there are; they are here no more.
  std::vector<slab_piece> take_oldest(std::uint64_t at_least) {
    std::uint64_t bytes = 0;
    auto end = m_free.begin();
    for (; end != m_free.end() && bytes < at_least; ++end) bytes += end->bytes;
    std::vector<slab_piece> oldest(m_free.begin(), end);
    m_free.erase(m_free.begin(), end);
    m_bytes -= bytes;
    return oldest;
  }
  std::uint64_t bytes() const noexcept { return m_bytes; }
  const std::vector<slab_piece>& all() const noexcept { return m_free; }

 private:
  std::vector<slab_piece> m_free;  // the first freed first
  std::uint64_t m_bytes = 0;
};

}  // namespace tessera::memory
