#pragma once
// The cheapest path through a grid as regions: one per row of the grid, over its columns.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/rodinia/pathfinder/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// rows x columns cells. Each row is an array of its own, split by columns; a cell more at each end, which no path
/// takes, saves the body the question where the row ends.
/// @tparam T  of the cells: std::int32_t or std::uint8_t
template <class T>
class pathfinder_kernel {
 public:
  static constexpr std::int32_t no_way = std::numeric_limits<std::int32_t>::max() / 2;

  pathfinder_kernel(location_model& model, const region_options& how, std::int64_t rows, std::int64_t columns)
      : m_costs{model.make_array<std::int32_t>("costs", {columns + 2}, {.at = how.at}),
                model.make_array<std::int32_t>("next costs", {columns + 2}, {.at = how.at})},
        m_model(model),
        m_how(how),
        m_columns(columns) {
    for (std::int64_t t = 0; t < rows; ++t)
      m_grid.push_back(model.make_array<T>("row " + std::to_string(t), {columns + 2}, {.at = how.at}));
  }

  /// Writes all rows: `make(row, first cell)` does it for one, and is copied.
  template <class Make>
  void fill(const Make& make) {
    const std::array drawn{m_model.make_array<T>("drawn", {m_columns}, {.at = m_how.at}),
                           m_model.make_array<T>("also drawn", {m_columns}, {.at = m_how.at})};
    for (std::int64_t t = 0; t < rows(); ++t) {
      const array<T>& scratch = drawn[static_cast<std::size_t>(t % 2)];
      m_model.region("draw", {.policy = policy::any, .at = m_how.at}, iterate(0, 1), write(scratch, whole),
                     [make, t](auto, auto to) { make(t, &to[0]); });
      m_model.region("fill", m_how, iterate(1, m_columns + 1), read(scratch, offset(-1)), write(row(t)),
                     TESSERA_BODY((), (auto j, auto from, auto to), { to[j] = from[j - 1]; }));
    }
  }
  /// The synthetic grid.
  void generate(std::uint64_t seed) {
    fill([seed, columns = m_columns](std::int64_t t, T* to) { make_pathfinder_row(seed, t, to, columns); });
  }

  /// The first row is what it costs to stand there.
  void start() {
    for (const array<std::int32_t>& c : m_costs)
      for (const std::int64_t end : {std::int64_t{0}, m_columns + 1})
        m_model.region("ends", {.policy = policy::any, .at = m_how.at}, iterate(end, end + 1), write(c),
                       [](auto j, auto to) { to[j] = no_way; });
    m_now = 0;
    m_model.region("first", m_how, iterate(1, m_columns + 1), read(row(0)), write(m_costs[0]),
                   TESSERA_BODY((), (auto j, auto digit, auto to), { to[j] = digit[j]; }));
    m_model.region("room", m_how, iterate(1, m_columns + 1), write(m_costs[1]),
                   TESSERA_BODY((), (auto j, auto to), { to[j] = 0; }));
  }
  /// All other rows.
  void run() {
    for (std::int64_t t = 1; t < rows(); ++t) {
      m_model.region("row", m_how, iterate(1, m_columns + 1), read(m_costs[m_now], halo(1)), read(row(t)),
                     write(m_costs[1 - m_now]), TESSERA_BODY((), (auto j, auto from, auto digit, auto to), {
                       to[j] = digit[j] + std::min(std::min(from[j - 1], from[j + 1]), from[j]);
                     }));
      m_now = 1 - m_now;
    }
  }

  /// A cell more at each end.
  const array<std::int32_t>& costs() const { return m_costs[m_now]; }

 private:
  std::int64_t rows() const { return static_cast<std::int64_t>(m_grid.size()); }
  const array<T>& row(std::int64_t t) const { return m_grid[static_cast<std::size_t>(t)]; }

  std::array<array<std::int32_t>, 2> m_costs;
  std::size_t m_now = 0;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_columns;
  std::vector<array<T>> m_grid;
};

}  // namespace tessera::apps::rodinia
