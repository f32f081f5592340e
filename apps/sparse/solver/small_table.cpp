#include "apps/sparse/solver/small_table.hpp"

#include <algorithm>
#include <cmath>

#include "apps/lapack/lapack.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {

small_table product(const small_table& a, const small_table& b) {
  small_table made(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) made(i, j) += a(i, k) * b(k, j);
  return made;
}

small_table transposed_product(const small_table& a, const small_table& b) {
  small_table made(a.columns, b.columns);
  for (std::int64_t k = 0; k < a.rows; ++k)
    for (std::int64_t i = 0; i < a.columns; ++i)
      for (std::int64_t j = 0; j < b.columns; ++j) made(i, j) += a(k, i) * b(k, j);
  return made;
}

std::vector<double> diagonalize(small_table& a) {
  const std::int64_t n = a.rows;
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) a(i, j) = a(j, i) = 0.5 * (a(i, j) + a(j, i));
  if (lapack::dsyev(static_cast<int>(n), a.numbers.data(), values.data()) != 0)
    throw error(error_kind::numerical, "the eigenvalues of a small matrix do not converge", "rayleigh_ritz");
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(a(i, j), a(j, i));
  return values;
}

small_table whitening(const small_table& g, double least) {
  small_table vectors = g;
  const std::vector<double> values = diagonalize(vectors);
  const double floor = least * std::max(values.back(), 1.0);
  const auto first = std::ranges::find_if(values, [&](double v) { return v > floor; }) - values.begin();
  small_table made(g.rows, g.rows - first);
  for (std::int64_t i = 0; i < made.rows; ++i)
    for (std::int64_t j = 0; j < made.columns; ++j)
      made(i, j) = vectors(i, first + j) / std::sqrt(values[static_cast<std::size_t>(first + j)]);
  return made;
}

}  // namespace tessera::sparse
