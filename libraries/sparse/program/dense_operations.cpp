// Operations of LAPACK on small matrices: one task of the host each.
#include <algorithm>
#include <cmath>

#include "libraries/lapack/lapack.hpp"
#include "libraries/sparse/program/call.hpp"

namespace tessera::sparse {
namespace {

/// Row-major and symmetric is column-major too; the lower triangle of one is the upper of the other.
std::vector<double> mirrored_lower(const small_view& a) {
  std::vector<double> whole(static_cast<std::size_t>(a.rows * a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      whole[static_cast<std::size_t>(i * a.rows + j)] = whole[static_cast<std::size_t>(j * a.rows + i)] = a(i, j);
  return whole;
}

void give_vectors(const std::vector<double>& columns, const std::vector<double>& values,
                  std::span<const small_view> to) {
  const std::int64_t n = to[0].rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[0](i, j) = columns[static_cast<std::size_t>(j * n + i)];
  std::ranges::copy(values, to[1].data);
}

void eigenvectors(std::span<const small_view> from, std::span<const small_view> to) {
  std::vector<double> a = mirrored_lower(from[0]), values(static_cast<std::size_t>(from[0].rows));
  if (const int info = lapack::dsyev(static_cast<int>(from[0].rows), a.data(), values.data()); info != 0)
    throw error(error_kind::numerical, fmt::format("{} eigenvalues do not converge", info), "syevd");
  give_vectors(a, values, to);
}

void generalized_eigenvectors(std::span<const small_view> from, std::span<const small_view> to) {
  const auto n = static_cast<int>(from[0].rows);
  std::vector<double> a = mirrored_lower(from[0]), b = mirrored_lower(from[1]), values(static_cast<std::size_t>(n));
  const int info = lapack::dsygvd(n, a.data(), b.data(), values.data());
  if (info > n)
    throw error(error_kind::numerical, fmt::format("the second matrix is not positive definite: pivot {}", info - n),
                "sygvd", "drop directions that depend on others");
  if (info != 0) throw error(error_kind::numerical, "the eigenvalues do not converge", "sygvd");
  give_vectors(a, values, to);
}

void cholesky_factor(std::span<const small_view> from, std::span<const small_view> to) {
  const std::int64_t n = from[0].rows;
  std::vector<double> a = mirrored_lower(from[0]);
  int pivot = lapack::dpotrf(static_cast<int>(n), a.data());
  for (int i = 0; i < n && pivot == 0; ++i)  // not every LAPACK sees what is not finite
    if (!std::isfinite(a[static_cast<std::size_t>(i * n + i)])) pivot = i + 1;
  if (pivot != 0)
    throw error(error_kind::numerical, fmt::format("the matrix is not positive definite: pivot {}", pivot), "potrf",
                "drop directions that depend on others");
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[0](i, j) = j <= i ? a[static_cast<std::size_t>(j * n + i)] : 0;
}

[[noreturn]] void refuse_pivot(std::int64_t row) {
  throw error(error_kind::numerical, fmt::format("element ({0}, {0}) of the triangle is 0", row + 1), "trsm_small");
}

/// X with L X = B, by rows of X from above.
void solve_from_left(std::span<const small_view> from, std::span<const small_view> to) {
  const small_view &l = from[0], &b = from[1], &x = to[0];
  for (std::int64_t i = 0; i < x.rows; ++i) {
    if (l(i, i) == 0) refuse_pivot(i);
    for (std::int64_t j = 0; j < x.columns; ++j) {
      double sum = b(i, j);
      for (std::int64_t k = 0; k < i; ++k) sum -= l(i, k) * x(k, j);
      x(i, j) = sum / l(i, i);
    }
  }
}

/// X with X L^T = B, by columns of X from the left.
void solve_from_right(std::span<const small_view> from, std::span<const small_view> to) {
  const small_view &l = from[0], &b = from[1], &x = to[0];
  for (std::int64_t j = 0; j < x.columns; ++j) {
    if (l(j, j) == 0) refuse_pivot(j);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      double sum = b(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= x(i, k) * l(j, k);
      x(i, j) = sum / l(j, j);
    }
  }
}

void singular_vectors(std::span<const small_view> from, std::span<const small_view> to) {
  // LAPACK has columns: what it sees is the transposed matrix, whose left vectors are V.
  const auto m = static_cast<int>(from[0].columns), n = static_cast<int>(from[0].rows);
  const small_view &u = to[0], &values = to[1], &v = to[2];
  std::vector<double> a(from[0].data, from[0].data + from[0].rows * from[0].columns);
  std::vector<double> left(static_cast<std::size_t>(v.rows * v.columns));
  if (lapack::dgesvd(m, n, a.data(), values.data, left.data(), u.data) != 0)
    throw error(error_kind::numerical, "the singular values do not converge", "svd");
  for (std::int64_t i = 0; i < v.rows; ++i)
    for (std::int64_t j = 0; j < v.columns; ++j) v(i, j) = left[static_cast<std::size_t>(j * v.rows + i)];
}

}  // namespace

void syevd(const small_matrix& a, const small_matrix& v, const small_matrix& lambda, std::source_location site) {
  call c(operation_kind::small, "syevd", site);
  c.reads(a), c.writes(v), c.writes(lambda);
  c.expect(a, a.rows(), a.rows()), c.expect(v, a.rows(), a.rows()), c.expect(lambda, 1, a.rows());
  c.made().function = eigenvectors;
  c.record();
}

void sygvd(const small_matrix& a, const small_matrix& b, const small_matrix& v, const small_matrix& lambda,
           std::source_location site) {
  call c(operation_kind::small, "sygvd", site);
  c.reads(a), c.reads(b), c.writes(v), c.writes(lambda);
  c.expect(a, a.rows(), a.rows()), c.expect(b, a.rows(), a.rows());
  c.expect(v, a.rows(), a.rows()), c.expect(lambda, 1, a.rows());
  c.made().function = generalized_eigenvectors;
  c.record();
}

void potrf(const small_matrix& a, const small_matrix& l, std::source_location site) {
  call c(operation_kind::small, "potrf", site);
  c.reads(a), c.writes(l);
  c.expect(a, a.rows(), a.rows()), c.expect(l, a.rows(), a.rows());
  c.made().function = cholesky_factor;
  c.record();
}

void trsm_small(const small_matrix& l, const small_matrix& b, const small_matrix& x, factor_side side,
                std::source_location site) {
  const bool left = side == factor_side::left;
  call c(operation_kind::small, left ? "trsm_small, left" : "trsm_small, right", site);
  c.reads(l), c.reads(b), c.writes(x);
  const std::int64_t n = left ? b.rows() : b.columns();
  c.expect(l, n, n), c.expect(x, b.rows(), b.columns());
  if (&l.data() == &x.data()) refuse_call("trsm_small", fmt::format("{} is the factor and the result", x.name()));
  c.made().function = left ? solve_from_left : solve_from_right;
  c.record();
}

void svd(const small_matrix& a, const small_matrix& u, const small_matrix& values, const small_matrix& v,
         std::source_location site) {
  call c(operation_kind::small, "svd", site);
  c.reads(a), c.writes(u), c.writes(values), c.writes(v);
  const std::int64_t k = std::min(a.rows(), a.columns());
  c.expect(u, a.rows(), k), c.expect(values, 1, k), c.expect(v, a.columns(), k);
  for (const small_matrix* to : {&u, &v})
    if (&to->data() == &a.data()) refuse_call("svd", fmt::format("{} is source and destination", a.name()));
  c.made().function = singular_vectors;
  c.record();
}

}  // namespace tessera::sparse
