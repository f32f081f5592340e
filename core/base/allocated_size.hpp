#pragma once
// What blocks take of a memory.
#include <algorithm>
#include <bit>
#include <cstdint>

namespace tessera {

/// Alignment of blocks, and the least that one takes: a pair of cache lines, and what vector units and DMA engines
/// like.
inline constexpr std::uint64_t block_granule = 256;

/// What a block of `bytes` takes: whole granules, or where `least` is below the granule a power of two from that on.
/// @param granule  what the plugin of the memory aligns to, and no less than block_granule; where it is no power of
/// two, `least` is the same
constexpr std::uint64_t allocated_size(std::uint64_t bytes, std::uint64_t granule,
                                       std::uint64_t least = block_granule) noexcept {
  if (bytes <= granule / 2) return std::max(std::bit_ceil(bytes), least);
  return (bytes + granule - 1) / granule * granule;
}

}  // namespace tessera
