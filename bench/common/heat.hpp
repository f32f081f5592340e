#pragma once
// A heat equation on a torus of small blocks, each with its four edges as blocks of their own: a task uses ten blocks.
// Standard library only: the peers use it too.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

inline constexpr std::size_t heat_side = 16;   ///< cells of a block in each direction
inline constexpr std::size_t heat_width = 16;  ///< blocks in each direction
inline constexpr std::size_t heat_blocks = heat_width * heat_width;
inline constexpr std::size_t heat_cells = heat_side * heat_side;

enum heat_edge : std::size_t {
  north,
  south,
  west,
  east
};

/// The block beside another one, across an edge.
inline std::size_t heat_neighbour(std::size_t block, heat_edge across) {
  const std::size_t row = block / heat_width, column = block % heat_width, w = heat_width;
  switch (across) {
    case north:
      return (row + w - 1) % w * w + column;
    case south:
      return (row + 1) % w * w + column;
    case west:
      return row * w + (column + w - 1) % w;
    default:
      return row * w + (column + 1) % w;
  }
}

/// Cell k of a block before the first step.
inline double heat_start(std::size_t block, std::size_t k) { return double((block * 31 + k * 7) % 101); }

/// Cell k of an edge, as its place in the block.
inline std::size_t heat_edge_cell(heat_edge edge, std::size_t k) {
  const std::size_t s = heat_side;
  switch (edge) {
    case north:
      return k;
    case south:
      return (s - 1) * s + k;
    case west:
      return k * s;
    default:
      return k * s + s - 1;
  }
}

/// One step of one block. n, s, w, e: the edges of the blocks beside it that touch it; edges: its own, in the order of
/// heat_edge.
inline void heat_step(const double* in, const double* n, const double* s, const double* w, const double* e, double* out,
                      double* const* edges) {
  constexpr std::size_t side = heat_side;
  for (std::size_t i = 0; i < side; ++i) {
    const double* const up = i == 0 ? n : in + (i - 1) * side;
    const double* const down = i + 1 == side ? s : in + (i + 1) * side;
    const double* const row = in + i * side;
    double* const to = out + i * side;
    to[0] = row[0] + 0.1 * (up[0] + down[0] + w[i] + row[1] - 4 * row[0]);
    for (std::size_t j = 1; j + 1 < side; ++j)
      to[j] = row[j] + 0.1 * (up[j] + down[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
    to[side - 1] = row[side - 1] + 0.1 * (up[side - 1] + down[side - 1] + row[side - 2] + e[i] - 4 * row[side - 1]);
  }
  std::copy_n(out, side, edges[north]);
  std::copy_n(out + (side - 1) * side, side, edges[south]);
  for (std::size_t k = 0; k < side; ++k) edges[west][k] = out[k * side], edges[east][k] = out[k * side + side - 1];
}

/// All cells after so many steps, block by block.
inline std::vector<double> heat_reference(std::size_t steps) {
  std::vector<double> now(heat_blocks * heat_cells), next(now.size());
  for (std::size_t b = 0; b < heat_blocks; ++b)
    for (std::size_t k = 0; k < heat_cells; ++k) now[b * heat_cells + k] = heat_start(b, k);
  double other[4][heat_side], own[4][heat_side];
  double* const edges[4] = {own[0], own[1], own[2], own[3]};
  constexpr heat_edge across[4] = {north, south, west, east}, touching[4] = {south, north, east, west};
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t b = 0; b < heat_blocks; ++b) {
      for (std::size_t d = 0; d < 4; ++d)
        for (std::size_t k = 0; k < heat_side; ++k)
          other[d][k] = now[heat_neighbour(b, across[d]) * heat_cells + heat_edge_cell(touching[d], k)];
      heat_step(&now[b * heat_cells], other[0], other[1], other[2], other[3], &next[b * heat_cells], edges);
    }
    now.swap(next);
  }
  return now;
}

}  // namespace bench
