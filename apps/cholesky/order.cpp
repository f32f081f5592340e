#include "apps/cholesky/order.hpp"

#include <algorithm>
#include <limits>

namespace tessera::apps {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t few = side_by_side;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t triangle(std::int64_t side) { return side * (side + 1) / 2; }

struct choice {
  std::int64_t loads = never;  ///< from here to the last column
  std::int64_t width = 0, at_once = 0;
};

/// Tiles brought in for the rows below the triangle of a panel; fills in at_once.
std::int64_t loads_below(std::int64_t tiles, std::int64_t column, std::int64_t room, choice& c) {
  const std::int64_t w = c.width, rows = tiles - column - w, own = rows * (w + column);
  c.at_once = 1;
  if (rows == 0) return 0;
  // All of the panel's rows to the left stay: every row below passes once.
  const std::int64_t spare = room - triangle(w) - w * column;
  const std::int64_t with_row = w + std::min(column, first_columns);  // tiles that a row takes while it is there
  if (spare >= with_row) {
    c.at_once = std::min({spare / with_row, std::int64_t{2}, rows});  // more would take room from what comes again
    return own;
  }
  // They come again for every group of rows; the triangle stays, or comes again too in favour of a larger group.
  std::int64_t fewest = never;
  for (const bool stays : {true, false}) {
    const std::int64_t most = std::min((room - w - (stays ? triangle(w) : 0)) / with_row, rows);
    if (most < 1) continue;
    const std::int64_t groups = ceil_div(rows, most), loads = own + groups * (w * column + (stays ? 0 : triangle(w)));
    if (loads < fewest) fewest = loads, c.at_once = ceil_div(rows, groups);
  }
  return fewest;
}

}  // namespace

std::vector<factor_panel> plan_factorization(std::int64_t tiles, std::int64_t room) {
  if (triangle(tiles) <= room) return {};
  const std::int64_t within = room - std::min<std::int64_t>(8, room / 8);  // copies for the next tasks are under way
  // Single columns: of the columns to the left, what does not stay from one column to the next comes again.
  std::int64_t by_columns = triangle(tiles);
  for (std::int64_t j = 0; j < tiles; ++j) by_columns += std::max<std::int64_t>(j * (tiles - j) + few - within, 0);

  std::vector<choice> best(static_cast<std::size_t>(tiles) + 1);
  best.back().loads = 0;
  for (std::int64_t column = tiles - 1; column >= 0; --column)
    for (std::int64_t w = 1; w <= tiles - column && triangle(w) + w <= within; ++w) {
      choice c{.loads = 0, .width = w};
      const std::int64_t below = loads_below(tiles, column, within, c);
      c.loads = triangle(w) + w * column + below + best[static_cast<std::size_t>(column + w)].loads;
      if (c.loads < best[static_cast<std::size_t>(column)].loads) best[static_cast<std::size_t>(column)] = c;
    }
  std::vector<factor_panel> plan;
  if (within > few + 2 && by_columns <= best.front().loads) {
    for (std::int64_t j = 0; j < tiles; ++j) plan.push_back({j, 1, few});
    return plan;
  }
  if (best.front().loads >= never) return {};
  for (std::int64_t column = 0; column < tiles; column += plan.back().width) {
    const choice& c = best[static_cast<std::size_t>(column)];
    plan.push_back({column, c.width, c.at_once});
  }
  return plan;
}

}  // namespace tessera::apps
