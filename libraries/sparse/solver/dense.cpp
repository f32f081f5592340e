#include "libraries/sparse/solver/dense.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "libraries/lapack/lapack.hpp"
#include "libraries/sparse/solver/deflation.hpp"

namespace tessera::sparse {

namespace {

/// Column by column.
std::vector<double> dense_copy(const csr_matrix& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> made(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
      made[static_cast<std::size_t>(a.entry_columns[k]) * n + i] = a.values[k];
  return made;
}

/// Column by column: an orthonormal basis, in B, of the deflated vectors.
struct deflated_basis {
  std::vector<double> y, by;
  std::size_t columns = 0;
};

double product(std::size_t n, const double* x, const double* y) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// By Gram and Schmidt, twice; what depends on others is left out.
deflated_basis deflated(const csr_matrix& a, const eigen_options& o) {
  const auto n = static_cast<std::size_t>(a.rows), given = o.deflate.size() / n;
  deflated_basis made;
  for (std::size_t j = 0; j < given; ++j) {
    std::vector<double> x(n), bx;
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i] = o.deflate[i * given + j]));
    if (largest == 0) continue;
    for (double& v : x) v /= largest;
    const auto normalize = [&] {
      bx = o.mass != nullptr ? plain_product(*o.mass, x) : x;
      const double length = std::sqrt(product(n, x.data(), bx.data()));
      for (double& v : x) v /= length;
      for (double& v : bx) v /= length;
    };
    normalize();
    double left = 1;
    for (int twice = 0; twice < 2; ++twice) {
      for (std::size_t k = 0; k < made.columns; ++k) {
        const double overlap = product(n, made.by.data() + k * n, x.data());
        for (std::size_t i = 0; i < n; ++i) x[i] -= overlap * made.y[k * n + i];
      }
      bx = o.mass != nullptr ? plain_product(*o.mass, x) : x;
      left = product(n, x.data(), bx.data());
      if (!(left > 1e-12)) break;
      normalize();
    }
    if (!(left > 1e-12)) continue;
    made.y.insert(made.y.end(), x.begin(), x.end());
    made.by.insert(made.by.end(), bx.begin(), bx.end());
    ++made.columns;
  }
  return made;
}

/// A becomes P^T A P + 2 ||A|| B Y (B Y)^T with P = 1 - Y (B Y)^T: what is deflated has the largest eigenvalues.
void move_away(std::vector<double>& a, const deflated_basis& d, double norm) {
  const auto n = static_cast<std::size_t>(std::sqrt(static_cast<double>(a.size())) + 0.5);
  const double far = norm > 0 ? 2 * norm : 1;
  for (std::size_t k = 0; k < d.columns; ++k) {
    const double *const y = d.y.data() + k * n, *const by = d.by.data() + k * n;
    std::vector<double> ay(n, 0.0);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) ay[i] += a[j * n + i] * y[j];
    const double inside = product(n, y, ay.data()) + far;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) a[j * n + i] += inside * by[i] * by[j] - by[i] * ay[j] - ay[i] * by[j];
  }
}

}  // namespace

eigenpairs dense_pairs(const csr_matrix& a, const eigen_options& o, const stopping_rule& rule) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> vectors = dense_copy(a), values(n), mass;
  if (o.mass != nullptr) mass = dense_copy(*o.mass);
  const deflated_basis away = deflated(a, o);
  require_pairs_left(o.pairs, a.rows - static_cast<std::int64_t>(away.columns));
  move_away(vectors, away, rule.norm);
  if ((o.mass == nullptr ? lapack::dsyev(static_cast<int>(n), vectors.data(), values.data())
                         : lapack::dsygvd(static_cast<int>(n), vectors.data(), mass.data(), values.data())) != 0)
    throw error(error_kind::numerical, "the eigenvalues do not converge", a.name);
  eigenpairs found;
  found.dense = true;
  const auto pairs = static_cast<std::size_t>(o.pairs);
  found.vectors.resize(n * pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto from =
        static_cast<std::size_t>(outermost_place(rank_of_pair(static_cast<std::int64_t>(k), o.pairs, o.which),
                                                 a.rows - static_cast<std::int64_t>(away.columns), o.which));
    const std::vector<double> x(vectors.data() + from * n, vectors.data() + (from + 1) * n);
    const std::vector<double> ax = plain_product(a, x), bx = o.mass != nullptr ? plain_product(*o.mass, x) : x;
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
