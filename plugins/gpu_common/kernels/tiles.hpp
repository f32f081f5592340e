#pragma once
// How a permutation is worked off: by tiles where rows become columns and both are long enough, else by elements.
// C++17: compilers for GPUs read it.
#include "plugins/gpu_common/kernels/kernels.hpp"

namespace tessera::gpu {

inline constexpr int tile_edge = 32;

/// The dimensions that a kernel walks over, with strides in elements.
struct dimensions {
  int count;
  std::int64_t extents[8], source[8], destination[8];
};

/// x is contiguous in the source, y in the destination; the other dimensions are `outer`. Without tiles all of them
/// are.
struct tiling {
  std::int64_t nx, ny, tiles_x, tiles_y, tiles;
  std::int64_t source_y, destination_x;  // strides
  dimensions outer;
};

inline tiling plan_tiles(const permutation& plan) {
  const int rank = static_cast<int>(plan.rank);
  int x = 0;
  while (x < rank && plan.source_strides[x] != 1) ++x;
  const bool by_tiles = rank > 1 && x > 0 && x < rank && plan.extents[0] >= 8 && plan.extents[x] >= 8;
  tiling t = {};
  for (int d = 0; d < rank; ++d) {
    if (by_tiles && (d == 0 || d == x)) continue;
    dimensions& outer = t.outer;
    outer.extents[outer.count] = plan.extents[d];
    outer.source[outer.count] = plan.source_strides[d];
    outer.destination[outer.count] = plan.destination_strides[d];
    ++outer.count;
  }
  if (!by_tiles) return t;
  t.nx = plan.extents[x];
  t.ny = plan.extents[0];
  t.tiles_x = (t.nx + tile_edge - 1) / tile_edge;
  t.tiles_y = (t.ny + tile_edge - 1) / tile_edge;
  t.tiles = plan.elements / t.nx / t.ny * t.tiles_x * t.tiles_y;
  t.source_y = plan.source_strides[0];
  t.destination_x = plan.destination_strides[x];
  return t;
}

}  // namespace tessera::gpu
