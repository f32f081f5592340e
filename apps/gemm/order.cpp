#include "apps/gemm/order.hpp"

#include <algorithm>
#include <limits>

namespace tessera::apps {
namespace {

struct grid {
  std::int64_t down = 0, across = 0;  ///< regions per dimension of C
  bool along_rows = true;             ///< the snake goes along rows of regions
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Tiles of A and B that are brought in. Regions are taken as equal, so that for uneven ones it is too much.
std::int64_t loads_of(const grid& g, std::int64_t rows, std::int64_t columns, std::int64_t inner, std::int64_t room) {
  const std::int64_t p = ceil_div(rows, g.down), q = ceil_div(columns, g.across);
  const std::int64_t passing = p + q + 4;  // the strips of one step, and copies that run ahead
  const std::int64_t spare = room - p * q - passing;
  if (spare < 0) return -1;
  const std::int64_t kept_a = std::min(p * inner, spare), kept_b = std::min(q * inner, spare);
  const std::int64_t same_rows = g.along_rows ? g.down * (g.across - 1) : g.across - 1;
  const std::int64_t same_columns = g.along_rows ? g.down - 1 : g.across * (g.down - 1);
  return g.down * g.across * (p + q) * inner - same_rows * kept_a - same_columns * kept_b;
}

}  // namespace

std::vector<product_region> plan_product(std::int64_t rows, std::int64_t columns, std::int64_t inner,
                                         std::int64_t room) {
  if (rows * inner + inner * columns + rows * columns <= room) return {};
  grid best;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t down = 1; down <= rows; ++down)
    for (std::int64_t across = 1; across <= columns; ++across)
      for (const bool along_rows : {true, false}) {
        const grid g{down, across, along_rows};
        const std::int64_t loads = loads_of(g, rows, columns, inner, room);
        if (loads >= 0 && loads < fewest) fewest = loads, best = g;
      }
  std::vector<product_region> plan;
  const std::int64_t lines = best.along_rows ? best.down : best.across,
                     steps = best.along_rows ? best.across : best.down;
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t turned = line % 2 == 0 ? step : steps - 1 - step;
      const std::int64_t i = best.along_rows ? line : turned, j = best.along_rows ? turned : line;
      product_region r;
      r.row = i * rows / best.down;
      r.rows = (i + 1) * rows / best.down - r.row;
      r.column = j * columns / best.across;
      r.columns = (j + 1) * columns / best.across - r.column;
      r.backwards = plan.size() % 2 != 0;
      plan.push_back(r);
    }
  return plan;
}

}  // namespace tessera::apps
