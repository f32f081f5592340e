#pragma once
// Elimination without pivoting as regions: two short ones per column.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "apps/rodinia/common/cache_lines.hpp"
#include "apps/rodinia/gaussian/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int64_t gaussian_most_columns = 64;  ///< eliminated together

/// Subtracts a multiple of a pivot row in the elements [first, n). @param aligned  where a line of the cache begins
template <class T>
void gaussian_subtract(T* __restrict to, T multiplier, const T* pivot, std::int64_t first, std::int64_t aligned,
                       std::int64_t n) {
  for (std::int64_t j = first; j < aligned; ++j) to[j] -= multiplier * pivot[j];
#pragma GCC ivdep
  for (std::int64_t j = aligned; j < n; ++j) to[j] -= multiplier * pivot[j];
}

/// Subtracts multiples of `columns` pivot rows, which begin at column t, from a row below, and keeps the multipliers.
/// Elements of these columns, which would become 0, stay what they are: nobody reads them again, and so a device can
/// treat all elements of a row at once. The right side is element n of each. @param multipliers  one per column
/// @param pitch  between pivot rows
template <class T>
void gaussian_row(T* __restrict to, T& right, T* __restrict multipliers, const T* pivots, std::int64_t pitch,
                  std::int64_t t, std::int64_t columns, std::int64_t n) {
  if (columns == 1) {  // which has as little else to do as a row of two elements
    const T m = *multipliers = to[t] / pivots[t];
    right -= m * pivots[n];
    return gaussian_subtract(to, m, pivots, t + 1, first_of_line(to, t + 1, n), n);
  }
  std::array<T, gaussian_most_columns> left;
  std::copy(to + t, to + t + columns, left.begin());
  for (std::int64_t k = 0; k < columns; ++k) {
    const T* const pivot = pivots + k * pitch;
    const T m = multipliers[k] = left[static_cast<std::size_t>(k)] / pivot[t + k];
    for (std::int64_t j = k + 1; j < columns; ++j) left[static_cast<std::size_t>(j)] -= m * pivot[t + j];
    right -= m * pivot[n];
  }
  const T* const m = multipliers;
  const std::int64_t first = t + columns, aligned = first_of_line(to, first, n);
  std::int64_t k = 0;
  for (; k + 4 <= columns; k += 4) {
    const T *p0 = pivots + k * pitch, *p1 = p0 + pitch, *p2 = p1 + pitch, *p3 = p2 + pitch;
    const T m0 = m[k], m1 = m[k + 1], m2 = m[k + 2], m3 = m[k + 3];
    const auto element = [&](std::int64_t j) { to[j] = to[j] - m0 * p0[j] - m1 * p1[j] - m2 * p2[j] - m3 * p3[j]; };
    for (std::int64_t j = first; j < aligned; ++j) element(j);
#pragma GCC ivdep
    for (std::int64_t j = aligned; j < n; ++j) element(j);
  }
  for (; k < columns; ++k) gaussian_subtract(to, m[k], pivots + k * pitch, first, aligned, n);
}

/// n equations. The rows that all others need are shown to them as an array of their own.
/// @tparam T  double or float
template <class T>
class gaussian_kernel {
 public:
  /// @param columns  eliminated by one pair of regions; each element sees the same operations, whatever it is
  gaussian_kernel(location_model& model, const region_options& how, std::int64_t n, std::int64_t columns = 4)
      : a(model.make_array<T>("A", {n, n}, {.at = how.at})),
        b(model.make_array<T>("b", {n}, {.at = how.at})),
        m_multipliers(model.make_array<T>("multipliers", {n, n}, {.at = how.at})),
        m_model(model),
        m_how(how),
        m_n(n),
        m_columns(columns) {
    for (int k = 0; k < 4; ++k)
      m_pivots.push_back(model.make_array<T>("pivot rows", {1, columns, n + 1}, {.at = how.at}));
  }

  void generate() {
    m_model.region("fill", m_how, iterate(0, m_n), write(a), write(b), [n = m_n](auto i, auto to, auto right) {
      for (std::int64_t j = 0; j < n; ++j) to(i, j) = static_cast<T>(gaussian_element(i, j));
      right[i] = 1;
    });
  }
  void run() {
    for (std::int64_t t = 0; t + 1 < m_n; t += m_columns) {
      if (t == 0) find_pivots(0);
      if (t + m_columns + 1 < m_n) find_pivots(t + m_columns);
      eliminate(t);
    }
  }

  array<T, 2> a;
  array<T> b;

 private:
  std::int64_t columns_from(std::int64_t t) const { return std::min(m_columns, m_n - t); }
  array<T, 3>& pivots_from(std::int64_t t) {
    return m_pivots[static_cast<std::size_t>(t / m_columns) % m_pivots.size()];
  }

  /// The pivot rows from row t on. They come before the columns left of t are eliminated from other rows, so that tasks
  /// that do so far below do not wait for the task that does it in these rows.
  void find_pivots(std::int64_t t) {
    const std::int64_t columns = columns_from(t), before = t > 0 ? m_columns : 0;
    const auto factor = [t, columns, before, n = m_n](auto, auto from, auto right, auto to, auto... last) {
      for (std::int64_t k = 0; k < columns; ++k) {
        T* const row = &to(0, k, 0);
        std::copy(&from(t + k, t - before), &from(t + k, 0) + n, row + t - before);
        row[n] = right[t + k];
        std::array<T, gaussian_most_columns> multipliers;
        (gaussian_row<T>(row, row[n], multipliers.data(), &last(0, 0, 0), n + 1, t - before, before, n), ...);
        for (std::int64_t l = 0; l < k; ++l) {  // the multiplier stays in its place
          const T m = row[t + l] /= to(0, l, t + l);
          for (std::int64_t j = t + l + 1; j <= n; ++j) row[j] -= m * to(0, l, j);
        }
      }
    };
    const region_options once{.policy = policy::any, .at = m_how.at};
    const auto launch = [&](auto... last) {
      m_model.region("pivot", once, iterate(0, 1), read(a, rows(t, t + columns)), read(b, rows(t, t + columns)),
                     write(pivots_from(t)), last..., factor);
    };
    if (t == 0) return launch();
    launch(read(pivots_from(t - m_columns), rows(0, 1)));
  }
  /// Subtracts multiples of the pivot rows from row t on from the rows below.
  void eliminate(std::int64_t t) {
    const std::int64_t columns = columns_from(t);
    const array<T, 3>& pivots = pivots_from(t);
    // Parts that change with each launch would cost more than a few rows that have nothing to do.
    const std::int64_t first = t - t % rows_together;
    m_model.region(
        "eliminate", m_how, iterate(first, m_n), update(a), update(m_multipliers), update(b), read(pivots, rows(0, 1)),
        with_kernel(
            [t, columns, n = m_n](auto i, auto of, auto multipliers, auto right, auto top) {
              if (i < t) return;
              if (i >= t + columns)
                return gaussian_row<T>(&of(i, 0), right[i], &multipliers(i, t), &top(0, 0, 0), n + 1, t, columns, n);
              for (std::int64_t k = 0; k < i - t; ++k) {
                multipliers(i, t + k) = top(0, i - t, t + k);
                of(i, t + k) = 0;
              }
              std::copy(&top(0, i - t, i), &top(0, i - t, n), &of(i, i));
              right[i] = top(0, i - t, n);
            },
            inner({t, m_n + 1}), element, t, columns, m_n));
  }

  /// The same for element j of row i; element n is the right side. Each work item finds the multipliers of its row
  /// itself, from elements that none of them writes.
  static constexpr const char* element = R"((i, j, of, multipliers, right, top, t, columns, n) {
  if (i >= t + columns) {
    of_element m[64];
    for (long k = 0; k < columns; ++k) {
      of_element left = of(i, t + k);
      for (long l = 0; l < k; ++l) left -= m[l] * top(0, l, t + k);
      m[k] = left / top(0, k, t + k);
    }
    if (j < t + columns) {
      multipliers(i, j) = m[j - t];
    } else {
      of_element value = j < n ? of(i, j) : right[i];
      for (long k = 0; k < columns; ++k) value -= m[k] * top(0, k, j);
      if (j < n) of(i, j) = value;
      else right[i] = value;
    }
  } else if (i >= t) {
    const of_element value = top(0, i - t, j);
    if (j == n) {
      right[i] = value;
    } else if (j >= i) {
      of(i, j) = value;
    } else {
      multipliers(i, j) = value;
      of(i, j) = 0;
    }
  }
})";

  static constexpr std::int64_t rows_together = 16;
  array<T, 2> m_multipliers;
  std::vector<array<T, 3>> m_pivots;  // in turn: as many of them are used at once
  location_model& m_model;
  region_options m_how;
  std::int64_t m_n, m_columns;
};

}  // namespace tessera::apps::rodinia
