#pragma once
// Freed chunks that are used again as they are.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/block/record.hpp"

namespace tessera::memory {

/// Chunks by their sizes: multiples of the granule, and below it the powers of two from `least` on, as rests of
/// granules. For one thread at a time.
class chunk_cache {
 public:
  chunk_cache(std::uint64_t granule, std::uint64_t least) noexcept : m_granule(granule), m_least(least) {}

  /// One of exactly this size.
  std::optional<block::chunk> take(std::uint64_t size) {
    std::vector<block::chunk>& chunks = m_chunks[size];
    if (chunks.empty()) return std::nullopt;
    const block::chunk last = chunks.back();
    chunks.pop_back();
    if (size >= m_granule) m_bytes -= size;
    return last;
  }
  void put(block::chunk memory, std::uint64_t size) {
    m_chunks[size].push_back(memory);
    if (size >= m_granule) m_bytes += size;
    m_may_join = true;
  }
  /// In whole granules.
  std::uint64_t bytes() const noexcept { return m_bytes; }
  /// The other half of a piece that was cut; nothing was freed.
  void put_rest(block::chunk memory, std::uint64_t size) { m_chunks[size].push_back(memory); }
  /// Something was freed outside of the cache, or the places of chunks have changed.
  void note_freed() noexcept { m_may_join = true; }

  /// Empties it but for halves whose other halves are in use: calls release(chunk, size) for each whole granule. False:
  /// nothing was freed since the last time.
  template <class Release>
  bool empty(Release&& release) {
    if (!std::exchange(m_may_join, false)) return false;
    join_halves();
    for (auto& [size, chunks] : m_chunks) {
      if (size < m_granule) continue;
      for (const block::chunk c : chunks) release(c, size);
      chunks.clear();
    }
    m_bytes = 0;
    return true;
  }
  /// Calls visit(chunk, size) for each of whole granules.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [size, chunks] : m_chunks)
      if (size >= m_granule)
        for (const block::chunk c : chunks) visit(c, size);
  }

 private:
  void join_halves() {  // those whose other halves are here too
    for (std::uint64_t size = m_least; size < m_granule; size *= 2) {
      auto& pieces = m_chunks[size];
      auto& larger = m_chunks[2 * size];
      std::ranges::sort(pieces, {}, &block::chunk::word);
      std::size_t left = 0;
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        const bool first_half = pieces[k].offset() % (2 * size) == 0;
        if (first_half && k + 1 < pieces.size() && pieces[k + 1].word == pieces[k].word + size)
          larger.push_back(pieces[k++]);
        else
          pieces[left++] = pieces[k];
      }
      pieces.resize(left);
    }
  }

  const std::uint64_t m_granule, m_least;
  std::unordered_map<std::uint64_t, std::vector<block::chunk>> m_chunks;
  std::uint64_t m_bytes = 0;
  bool m_may_join = false;
};

}  // namespace tessera::memory
