#pragma once
// Elimination without pivoting as regions: two short ones per column.
#include <algorithm>
#include <array>
#include <cstdint>

#include "apps/rodinia/gaussian/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// n equations. The row that all others need is shown to them as an array of its own.
/// @tparam T  double or float
template <class T>
class gaussian_kernel {
 public:
  gaussian_kernel(location_model& model, const region_options& how, std::int64_t n)
      : a(model.make_array<T>("A", {n, n}, {.at = how.at})),
        b(model.make_array<T>("b", {n}, {.at = how.at})),
        m_multipliers(model.make_array<T>("multipliers", {n, n}, {.at = how.at})),
        m_pivots{model.make_array<T>("pivot row", {1, n + 1}, {.at = how.at}),
                 model.make_array<T>("next pivot row", {1, n + 1}, {.at = how.at})},
        m_model(model),
        m_how(how),
        m_n(n) {}

  void generate() {
    m_model.region("fill", m_how, iterate(0, m_n), out(a), out(b), [n = m_n](auto i, auto to, auto right) {
      for (std::int64_t j = 0; j < n; ++j) to(i, j) = static_cast<T>(gaussian_element(i, j));
      right[i] = 1;
    });
  }
  void run() {
    for (std::int64_t t = 0; t + 1 < m_n; ++t) eliminate(t);
  }

  region_array<T> a, b;

 private:
  /// Column t below row t.
  void eliminate(std::int64_t t) {
    const region_array<T>& pivot = m_pivots[static_cast<std::size_t>(t % 2)];
    m_model.region("pivot", {.policy = "any", .at = m_how.at}, iterate(0, 1), in(a, rows(t, t + 1)),
                   in(b, rows(t, t + 1)), out(pivot), [t, n = m_n](auto, auto from, auto right, auto to) {
                     std::copy(&from(t, t), &from(t, t) + (n - t), &to[t]);
                     to[n] = right[t];
                   });
    // Parts that change with each column would cost more than a few rows that have nothing to do.
    const std::int64_t first = t - t % rows_together + 1;
    m_model.region("eliminate", m_how, iterate(first, m_n), inout(a), inout(m_multipliers), inout(b),
                   in(pivot, rows(0, 1)), [t, n = m_n](auto i, auto of, auto multipliers, auto right, auto row) {
                     if (i <= t) return;
                     const T m = of(i, t) / row[t];
                     multipliers(i, t) = m;
                     T* const __restrict to = &of(i, 0);
                     const T* const from = &row[0];
                     for (std::int64_t j = t; j < n; ++j) to[j] -= m * from[j];
                     right[i] -= m * from[n];
                   });
  }

  static constexpr std::int64_t rows_together = 16;
  region_array<T> m_multipliers;
  std::array<region_array<T>, 2> m_pivots;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_n;
};

}  // namespace tessera::apps::rodinia
