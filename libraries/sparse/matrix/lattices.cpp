// Matrices of points on a lattice.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "libraries/sparse/matrix/families.hpp"
#include "libraries/sparse/matrix/large_arrays.hpp"

namespace tessera::sparse::families {

csr_matrix laplacian(int dimensions, std::int64_t side) {
  const std::int64_t depth = dimensions == 3 ? side : 1;
  csr_matrix a;
  a.rows = a.columns = side * side * depth;
  a.row_starts.reserve(static_cast<std::size_t>(a.rows) + 1);
  reserve_large(a.entry_columns, static_cast<std::size_t>(a.rows * (2 * dimensions + 1)));
  reserve_large(a.values, a.entry_columns.capacity());
  a.row_starts.push_back(0);
  const auto enter = [&](bool there, std::int64_t column, double value) {
    if (!there) return;
    a.entry_columns.push_back(static_cast<std::int32_t>(column));
    a.values.push_back(value);
  };
  const std::int64_t plane = side * side;
  for (std::int64_t z = 0, row = 0; z < depth; ++z)
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x, ++row) {
        enter(z > 0, row - plane, -1);
        enter(y > 0, row - side, -1);
        enter(x > 0, row - 1, -1);
        enter(true, row, 2 * dimensions);
        enter(x + 1 < side, row + 1, -1);
        enter(y + 1 < side, row + side, -1);
        enter(z + 1 < depth, row + plane, -1);
        a.row_starts.push_back(a.nonzeros());
      }
  return a;
}

std::vector<double> laplacian_lowest(int dimensions, std::int64_t side, std::size_t count) {
  // The `count` lowest sums need no more than the `count` lowest terms of each dimension.
  const std::int64_t most = std::min<std::int64_t>(side, static_cast<std::int64_t>(count));
  std::vector<double> terms, sums{0.0};
  for (std::int64_t k = 1; k <= most; ++k) {
    const double s = std::sin(std::numbers::pi * static_cast<double>(k) / static_cast<double>(2 * (side + 1)));
    terms.push_back(4 * s * s);
  }
  for (int d = 0; d < dimensions; ++d) {
    std::vector<double> longer;
    for (const double sum : sums)
      for (const double term : terms) longer.push_back(sum + term);
    std::ranges::sort(longer);
    if (longer.size() > count) longer.resize(count);
    sums = std::move(longer);
  }
  return sums;
}

csr_matrix boundary_control(std::int64_t side) {
  const std::int64_t points = side * side * side, face = side * side, controls = 6 * face;
  const std::int64_t multipliers = points + controls;  // where their rows begin
  const double h = 1.0 / static_cast<double>(side + 1);
  constexpr double neighbour = -1.0 / 26, cost_of_control = 0.1;
  std::vector<triplet> entries;
  const auto enter = [&](std::int64_t row, std::int64_t column, double value) {
    entries.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value});
  };
  const auto enter_both = [&](std::int64_t row, std::int64_t column, double value) {
    enter(row, column, value);
    enter(column, row, value);
  };
  const auto inside = [&](std::int64_t x) { return x >= 0 && x < side; };
  const auto point = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return (z * side + y) * side + x; };
  const double mass = std::pow(h * static_cast<double>(side), 3);
  for (std::int64_t i = 0; i < points; ++i) enter(i, i, mass);
  for (std::int64_t i = 0; i < controls; ++i) enter(points + i, points + i, cost_of_control);
  for (std::int64_t i = 0; i < points; ++i) {
    const std::int64_t x = i % side, y = i / side % side, z = i / face;
    for (std::int64_t d = 0; d < 27; ++d) {
      const std::int64_t u = x + d % 3 - 1, v = y + d / 3 % 3 - 1, w = z + d / 9 - 1;
      if (inside(u) && inside(v) && inside(w)) enter_both(multipliers + i, point(u, v, w), d == 13 ? 1.0 : neighbour);
    }
  }
  for (std::int64_t f = 0; f < 6; ++f)
    for (std::int64_t i = 0; i < face; ++i)
      for (std::int64_t d = 0; d < 9; ++d) {
        const std::int64_t p = i / side + d / 3 - 1, q = i % side + d % 3 - 1, wall = f % 2 == 0 ? 0 : side - 1;
        if (!inside(p) || !inside(q)) continue;
        const std::array at = {point(wall, p, q), point(p, wall, q), point(p, q, wall)};
        enter_both(multipliers + at[static_cast<std::size_t>(f / 2)], points + f * face + i, neighbour);
      }
  return matrix_of({}, multipliers + points, multipliers + points, entries);
}

}  // namespace tessera::sparse::families
