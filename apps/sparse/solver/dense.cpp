#include "apps/sparse/solver/dense.hpp"

#include <algorithm>
#include <cmath>

#include "apps/lapack/lapack.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {

namespace {

/// Calls visit(row, column, value) for each entry.
template <class Visit>
void each_entry(const csr_matrix& a, const Visit& visit) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
      visit(i, static_cast<std::size_t>(a.entry_columns[k]), a.values[k]);
}

/// Column by column.
std::vector<double> dense_copy(const csr_matrix& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> made(n * n, 0.0);
  each_entry(a, [&](std::size_t i, std::size_t j, double value) { made[j * n + i] = value; });
  return made;
}

std::vector<double> times(const csr_matrix& a, const double* x) {
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  each_entry(a, [&](std::size_t i, std::size_t j, double value) { y[i] += value * x[j]; });
  return y;
}

}  // namespace

eigenpairs dense_pairs(const csr_matrix& a, const eigen_options& o, const stopping_rule& rule) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> vectors = dense_copy(a), values(n), mass;
  if (o.mass != nullptr) mass = dense_copy(*o.mass);
  if ((o.mass == nullptr ? lapack::dsyev(static_cast<int>(n), vectors.data(), values.data())
                         : lapack::dsygvd(static_cast<int>(n), vectors.data(), mass.data(), values.data())) != 0)
    throw error(error_kind::numerical, "the eigenvalues do not converge", a.name);
  eigenpairs found;
  found.dense = true;
  const auto pairs = static_cast<std::size_t>(o.pairs);
  found.vectors.resize(n * pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto from = static_cast<std::size_t>(
        outermost_place(rank_of_pair(static_cast<std::int64_t>(k), o.pairs, o.which), a.rows, o.which));
    const double* const x = vectors.data() + from * n;
    const std::vector<double> ax = times(a, x), bx = o.mass != nullptr ? times(*o.mass, x) : std::vector(x, x + n);
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double r = ax[i] - values[from] * bx[i];
      square += r * r;
      found.vectors[i * pairs + k] = x[i];
    }
    found.values.push_back(rule.judged(values[from], std::sqrt(square)));
    for (std::size_t l = 0; l < n; ++l) {
      double overlap = 0;
      for (std::size_t i = 0; i < n; ++i) overlap += bx[i] * vectors[l * n + i];
      found.orthogonality = std::max(found.orthogonality, std::abs(overlap - static_cast<double>(l == from)));
    }
  }
  return found;
}

}  // namespace tessera::sparse
