#pragma once
// LU decomposition in blocks as regions: a row of blocks, then all rows below it.
#include <algorithm>
#include <array>
#include <cstdint>

#include "apps/rodinia/lud/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// C -= L U, where L is of one block and U and C of `width` columns. `pitch`: elements between rows.
template <class T>
void lud_multiply(const T* l, const T* u, T* c, std::int64_t width, std::int64_t pitch) {
  constexpr std::int64_t strip = 256;  // of U, stays in the first cache
  for (std::int64_t from = 0; from < width; from += strip) {
    const std::int64_t columns = std::min(strip, width - from);
    for (std::int64_t r = 0; r < lud_block; r += 2)
      for (std::int64_t k = 0; k < lud_block; k += 4) {
        const T *l0 = l + r * pitch + k, *l1 = l0 + pitch;
        const T a0 = l0[0], a1 = l0[1], a2 = l0[2], a3 = l0[3], b0 = l1[0], b1 = l1[1], b2 = l1[2], b3 = l1[3];
        const T *u0 = u + k * pitch + from, *u1 = u0 + pitch, *u2 = u1 + pitch, *u3 = u2 + pitch;
        T* const __restrict c0 = c + r * pitch + from, * const __restrict c1 = c0 + pitch;
#pragma GCC ivdep
        for (std::int64_t j = 0; j < columns; ++j) {
          c0[j] -= a0 * u0[j] + a1 * u1[j] + a2 * u2[j] + a3 * u3[j];
          c1[j] -= b0 * u0[j] + b1 * u1[j] + b2 * u2[j] + b3 * u3[j];
        }
      }
  }
}

/// Factors the block at `a`, and solves for the `width` columns that begin there, its own included.
template <class T>
void lud_row_of_blocks(T* a, std::int64_t width, std::int64_t pitch) {
  for (std::int64_t k = 0; k < lud_block; ++k)
    for (std::int64_t i = k + 1; i < lud_block; ++i) {
      T* const to = a + i * pitch;
      const T* const from = a + k * pitch;
      const T l = to[k] / from[k];
      to[k] = l;
#pragma GCC ivdep
      for (std::int64_t j = k + 1; j < width; ++j) to[j] -= l * from[j];
    }
}

/// The block of L: a <- a U^-1, U in the block at `u`.
template <class T>
void lud_column_block(T* a, const T* u, std::int64_t pitch) {
  for (std::int64_t r = 0; r < lud_block; ++r) {
    T* const row = a + r * pitch;
    for (std::int64_t k = 0; k < lud_block; ++k) {
      const T l = row[k] / u[k * pitch + k];
      row[k] = l;
#pragma GCC ivdep
      for (std::int64_t j = k + 1; j < lud_block; ++j) row[j] -= l * u[k * pitch + j];
    }
  }
}

/// A matrix of n x n, continued to whole blocks by a diagonal of ones.
/// @tparam T  double or float
template <class T>
class lud_kernel {
 public:
  lud_kernel(location_model& model, const region_options& how, std::int64_t n)
      : m_n(n),
        m_blocks((n + lud_block - 1) / lud_block),
        m_width(m_blocks * lud_block),
        m_a(model.make_array<T>("A", {m_blocks, lud_block, m_width}, {.at = how.at})),
        m_rows{model.make_array<T>("row of blocks", {1, lud_block, m_width}, {.at = how.at}),
               model.make_array<T>("next row of blocks", {1, lud_block, m_width}, {.at = how.at})},
        m_model(model),
        m_how(how) {}

  void generate() {
    fill([](std::int64_t i, std::int64_t j) { return lud_element(i, j); });
  }
  /// From a matrix of n x n; waits.
  void load(const std::vector<double>& a) {
    fill([from = a.data(), n = m_n](std::int64_t i, std::int64_t j) { return from[i * n + j]; });
    m_model.fence();
  }
  void run() {
    for (std::int64_t k = 0; k < m_blocks; ++k) step(k);
  }
  /// The factors of n x n; waits.
  std::vector<T> factors() const {
    const auto seen = m_a.read();
    std::vector<T> all;
    all.reserve(static_cast<std::size_t>(m_n * m_n));
    for (std::int64_t i = 0; i < m_n; ++i) all.insert(all.end(), &seen[i * m_width], &seen[i * m_width] + m_n);
    return all;
  }

 private:
  template <class Element>
  void fill(const Element& element) {
    m_model.region("fill", m_how, iterate(0, m_blocks), write(m_a),
                   [element, n = m_n, width = m_width](auto block, auto to) {
                     for (std::int64_t r = 0; r < lud_block; ++r)
                       for (std::int64_t j = 0; j < width; ++j) {
                         const std::int64_t i = block * lud_block + r;
                         to(block, r, j) = i < n && j < n ? static_cast<T>(element(i, j)) : i == j ? T(1) : T(0);
                       }
                   });
  }

  void step(std::int64_t k) {
    const array<T, 3>& row = m_rows[static_cast<std::size_t>(k % 2)];
    const std::int64_t width = m_width, at = k * lud_block;
    m_model.region("row", {.policy = policy::any, .at = m_how.at}, iterate(0, 1), read(m_a, rows(k, k + 1)), write(row),
                   [k, at, width](auto, auto from, auto to) {
                     for (std::int64_t r = 0; r < lud_block; ++r)
                       std::copy(&from(k, r, at), &from(k, r, 0) + width, &to(0, r, at));
                     lud_row_of_blocks<T>(&to(0, 0, at), width - at, width);
                   });
    m_model.region("below", m_how, iterate(k, m_blocks), update(m_a), read(row, rows(0, 1)),
                   with_kernel(
                       [k, at, width](auto block, auto of, auto top) {
                         if (block == k) {
                           for (std::int64_t r = 0; r < lud_block; ++r)
                             std::copy(&top(0, r, at), &top(0, r, 0) + width, &of(k, r, at));
                           return;
                         }
                         lud_column_block<T>(&of(block, 0, at), &top(0, 0, at), width);
                         const std::int64_t right = at + lud_block;
                         lud_multiply<T>(&of(block, 0, at), &top(0, 0, right), &of(block, 0, right), width - right,
                                         width);
                       },
                       inner(lud_block), row_of_block, k, at, width, lud_block));
  }

  /// What lud_column_block and lud_multiply do to row r of a block.
  static constexpr const char* row_of_block = R"((block, r, of, top, k, at, width, size) {
  if (block == k) {
    for (long j = at; j < width; ++j) of(block, r, j) = top(0, r, j);
  } else {
    for (long p = 0; p < size; ++p) {
      const of_element l = of(block, r, at + p) / top(0, p, at + p);
      of(block, r, at + p) = l;
      for (long j = p + 1; j < size; ++j) of(block, r, at + j) -= l * top(0, p, at + j);
    }
    for (long p = at; p < at + size; p += 4) {
      const of_element l0 = of(block, r, p), l1 = of(block, r, p + 1);
      const of_element l2 = of(block, r, p + 2), l3 = of(block, r, p + 3);
      for (long j = at + size; j < width; ++j)
        of(block, r, j) -= l0 * top(0, p - at, j) + l1 * top(0, p - at + 1, j) + l2 * top(0, p - at + 2, j) +
                           l3 * top(0, p - at + 3, j);
    }
  }
})";

  std::int64_t m_n, m_blocks, m_width;
  array<T, 3> m_a;
  std::array<array<T, 3>, 2> m_rows;
  location_model& m_model;
  region_options m_how;
};

}  // namespace tessera::apps::rodinia
