#pragma once
// The kernels for sparse matrices and for reductions of dense ones; what kernels.hpp says holds here. C++17: compilers
// for GPUs read it.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {

/// How the tiles of a matrix lie: element (i, j) of a tile is i * row_step + j * column_step elements behind its first.
/// What of the last tiles is beyond the matrix is not read.
struct tile_shape {
  std::int64_t rows = 1, columns = 1, row_step = 1, column_step = 1;
  bool is_element() const { return rows == 1 && columns == 1; }
};
/// A sparse matrix by rows of tiles: tiles starts[r] .. starts[r + 1] - 1 are those of row r. Tile e is in column
/// columns[e] and begins with the value number `tile elements` x order[e], or x e without `order`; conjugated when
/// read.
struct sparse_rows {
  std::int64_t rows, across, nonzeros;  ///< of elements; columns, of elements; of tiles
  tile_shape tile;
  const std::int64_t* starts;
  const std::int32_t* columns;
  const std::int64_t* order;
  const void* values;
  bool conjugated;
};
/// Y = alpha A X + beta Y, F32 to C128; X and Y are row-major with b columns. With beta == 0 Y is not read, with alpha
/// == 0 A and X are not.
struct sparse_product {
  tsr_type type;
  sparse_rows a;
  std::int64_t b;
  const void *alpha, *beta;  ///< host pointers, read before the call returns
  const void* x;
  std::int64_t ldx;
  void* y;
  std::int64_t ldy;
};
error_t multiply_sparse(const sparse_product& p, stream_t stream);

/// How many threads of a group work on the same rows: `wide` beside each other on columns of Y, `deep` on a row's
/// elements. Powers of two.
struct sharing {
  unsigned wide, deep;
};
/// Depends on the matrix and on b alone, and so does the order of summation.
inline sharing share_rows(const sparse_product& p, unsigned threads) {
  sharing chosen{1, 1};
  while (chosen.wide < 32 && chosen.wide < p.b) chosen.wide *= 2;
  const std::int64_t lines = p.a.rows / p.a.tile.rows + (p.a.rows % p.a.tile.rows != 0);
  const std::int64_t tiles = lines > 0 ? p.a.nonzeros / lines : 0, most = std::int64_t{1} << 32;
  const std::int64_t average = (tiles < most ? tiles : most) * (p.a.tile.columns < 256 ? p.a.tile.columns : 256);
  while (chosen.wide * chosen.deep < threads && chosen.deep * std::int64_t{4} <= average) chosen.deep *= 2;
  return chosen;
}

/// to[i] = the reduction of the `length` elements at from + i * result_step + k * step, F32 to I64. One of the steps
/// is 1.
struct line_reduction {
  tsr_type type;
  tsr_reduction operation;
  std::int64_t results, length, result_step, step;
  const void* from;
  void* to;
  alignas(16) unsigned char nothing[16];  ///< an element: MIN or MAX of nothing
};
error_t reduce_lines(const line_reduction& r, stream_t stream);

/// Of a group's threads, those that work on different results; the others share one. A power of two.
inline unsigned results_at_once(const line_reduction& r, unsigned threads) {
  unsigned wide = 1;
  if (r.step == 1)  // elements are beside each other: threads beside each other share a result
    while (wide < threads && threads / wide > r.length) wide *= 2;
  else
    while (wide < 32 && wide < r.results) wide *= 2;
  return wide;
}

}  // namespace tessera::gpu
