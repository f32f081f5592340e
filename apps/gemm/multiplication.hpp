#pragma once
// The product of two matrices in tiles, as tasks.
#include "apps/common/memory_budget.hpp"
#include "apps/gemm/order.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Submits C = A B, one task per tile of C and tile along the inner dimension; the first overwrites C. Where the
/// matrices do not fit into the room, tile by tile of C in the order of plan_product.
template <class T>
void multiply(runtime& rt, const tiled_matrix<T>& a, const tiled_matrix<T>& b, tiled_matrix<T>& c,
              const memory_budget& into = {}) {
  const std::int64_t rows = c.counts()[0], columns = c.counts()[1], inner = a.counts()[1];
  const auto submit = [&](std::int64_t i, std::int64_t j, std::int64_t l, bool first) {
    gemm(rt, T{1}, a(i, l), transpose::no, b(l, j), transpose::no, first ? T{0} : T{1}, c(i, j), {.at = into.location});
  };
  const auto tile_bytes = static_cast<std::uint64_t>(c.block_extents()[0] * c.block_extents()[1]) * sizeof(T);
  const std::vector<product_region> plan =
      plan_product(rows, columns, inner, into.tiles(tile_bytes, rows * inner + inner * columns + rows * columns));
  if (plan.empty()) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t l = 0; l < inner; ++l) submit(i, j, l, l == 0);
    return;
  }
  for (const product_region& r : plan)
    for (std::int64_t step = 0; step < inner; ++step) {
      const std::int64_t l = r.backwards ? inner - 1 - step : step;
      // Rows and columns join in turn, in proportion, so that the tiles of a step are not wanted all at its beginning.
      for (std::int64_t down = 0, across = 0; down < r.rows || across < r.columns;)
        if (down * r.columns <= across * r.rows) {
          for (std::int64_t j = 0; j < across; ++j) submit(r.row + down, r.column + j, l, step == 0);
          ++down;
        } else {
          for (std::int64_t i = 0; i < down; ++i) submit(r.row + i, r.column + across, l, step == 0);
          ++across;
        }
    }
}

}  // namespace tessera::apps
