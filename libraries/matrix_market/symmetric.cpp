#include "libraries/matrix_market/symmetric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"

namespace tessera::matrix_market {
namespace {

/// Ordinals of the entries, by column and row; entries of a dense file are in that order already.
std::vector<std::size_t> sorted_ordinals(const matrix& m) {
  std::vector<std::size_t> order(m.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    const entry &l = m.entries[a], &r = m.entries[b];
    return l.column != r.column ? l.column < r.column : l.row < r.row;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
  return order;
}

void refuse_duplicates(const matrix& m, const std::vector<std::size_t>& order) {
  for (std::size_t k = 1; k < order.size(); ++k) {
    const entry &a = m.entries[order[k - 1]], &b = m.entries[order[k]];
    if (a.row == b.row && a.column == b.column)
      throw error(error_kind::input,
                  fmt::format("the entry ({}, {}) is given twice, first in line {}", b.row + 1, b.column + 1,
                              m.lines[order[k - 1]]),
                  m.place_of(order[k]),
                  "add up or remove entries that are given twice; which is meant cannot be known");
  }
}

/// A general matrix must be its own mirror image.
void refuse_asymmetry(const matrix& m, const std::vector<std::size_t>& order) {
  const auto find = [&](std::int32_t row, std::int32_t column) -> const entry* {
    const auto at = std::lower_bound(
        order.begin(), order.end(), std::pair(column, row),
        [&](std::size_t k, const auto& key) { return std::pair(m.entries[k].column, m.entries[k].row) < key; });
    if (at == order.end() || m.entries[*at].row != row || m.entries[*at].column != column) return nullptr;
    return &m.entries[*at];
  };
  for (const std::size_t k : order) {
    const entry& e = m.entries[k];
    if (e.row == e.column) continue;
    const entry* mirror = find(e.column, e.row);
    const double other = mirror != nullptr ? mirror->value : 0;
    if (std::abs(other - e.value) > 1e-10 * std::max(std::abs(other), std::abs(e.value)))
      throw error(error_kind::input,
                  fmt::format("the matrix is not symmetric: ({0}, {1}) is {2:.17g} and ({1}, {0}) is {3:.17g}",
                              e.row + 1, e.column + 1, e.value, other),
                  m.place_of(k), "a Cholesky factorization needs a symmetric matrix");
  }
}

}  // namespace

lower_triangle symmetric_of(const matrix& m) {
  if (m.rows != m.columns)
    throw error(error_kind::input, fmt::format("the matrix is {} x {}, not square", m.rows, m.columns), m.name,
                "the number of rows and columns must be equal");
  const std::vector<std::size_t> order = sorted_ordinals(m);
  refuse_duplicates(m, order);
  if (m.kind == symmetry::general) refuse_asymmetry(m, order);

  lower_triangle made;
  made.n = m.rows;
  made.starts.assign(static_cast<std::size_t>(m.rows) + 1, 0);
  made.rows.reserve(order.size());
  made.values.reserve(order.size());
  for (const std::size_t k : order) {
    const entry& e = m.entries[k];
    if (e.row < e.column) continue;
    ++made.starts[static_cast<std::size_t>(e.column) + 1];
    made.rows.push_back(e.row);
    made.values.push_back(e.value);
  }
  std::partial_sum(made.starts.begin(), made.starts.end(), made.starts.begin());
  return made;
}

void multiply(const lower_triangle& a, std::span<const double> x, std::span<double> y) {
  std::vector<long double> sums(y.size(), 0.0L);
  for (std::size_t j = 0; j < static_cast<std::size_t>(a.n); ++j)
    for (auto k = static_cast<std::size_t>(a.starts[j]); k < static_cast<std::size_t>(a.starts[j + 1]); ++k) {
      const auto i = static_cast<std::size_t>(a.rows[k]);
      sums[i] += static_cast<long double>(a.values[k]) * x[j];
      if (i != j) sums[j] += static_cast<long double>(a.values[k]) * x[i];
    }
  std::transform(sums.begin(), sums.end(), y.begin(), [](long double s) { return static_cast<double>(s); });
}

double infinity_norm(const lower_triangle& a) {
  std::vector<double> sums(static_cast<std::size_t>(a.n), 0.0);
  for (std::size_t j = 0; j < sums.size(); ++j)
    for (auto k = static_cast<std::size_t>(a.starts[j]); k < static_cast<std::size_t>(a.starts[j + 1]); ++k) {
      const auto i = static_cast<std::size_t>(a.rows[k]);
      sums[i] += std::abs(a.values[k]);
      if (i != j) sums[j] += std::abs(a.values[k]);
    }
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace tessera::matrix_market
