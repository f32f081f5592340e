// Operators that are near the inverse of another one: a diagonal, a matrix of inverse tiles, a polynomial.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libraries/lapack/lapack.hpp"
#include "libraries/sparse/program/operator_node.hpp"

namespace tessera::sparse {
namespace {

/// What counts in place of an element or eigenvalue that rounding has left of 0: a small part of the mean of the
/// others. Of a positive matrix its vector is soon known. A smaller number would cover all other residuals with
/// rounding.
constexpr double part_of_mean = 1e-4;

/// |T + shift|^-1 of a symmetric tile, row-major: by its eigenvalues, of which small ones count as larger ones. It is
/// the inverse of T + shift where that is positive definite.
std::vector<double> absolute_inverse(std::vector<double> tile, std::int64_t n, double shift) {
  constexpr double least = 1e-8, rounding = 1e-13;  // of the largest
  std::vector<double> values(static_cast<std::size_t>(n));
  if (lapack::dsyev(static_cast<int>(n), tile.data(), values.data()) != 0)
    throw error(error_kind::numerical, "the eigenvalues of a diagonal tile do not converge", "block_jacobi");
  double largest = 0, sum = 0, count = 0;
  for (double& v : values) v = std::abs(v + shift), largest = std::max(largest, v);
  for (const double v : values)
    if (v > rounding * largest) sum += v / largest, ++count;
  for (double& v : values)
    v = largest == 0
            ? 1
            : 1 / (v > rounding * largest ? std::max(v, least * largest) : part_of_mean * sum / count * largest);
  std::vector<double> made(static_cast<std::size_t>(n * n), 0.0);
  for (std::int64_t k = 0; k < n; ++k) {
    const double* const vector = tile.data() + k * n;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        made[static_cast<std::size_t>(i * n + j)] += values[static_cast<std::size_t>(k)] * (vector[i] * vector[j]);
  }
  return made;
}

/// The inverses of all diagonal tiles of A + shift as one matrix.
csr_matrix inverse_tiles(const csr_matrix& a, std::int64_t tile_rows, double shift) {
  csr_matrix made{.name = "block jacobi of " + a.name,
                  .rows = a.rows,
                  .columns = a.rows,
                  .row_starts = {0},
                  .entry_columns = {},
                  .values = {}};
  for (std::int64_t begin = 0; begin < a.rows; begin += tile_rows) {
    const std::int64_t n = std::min(tile_rows, a.rows - begin);
    std::vector<double> tile(static_cast<std::size_t>(n * n), 0.0);
    for (std::int64_t i = 0; i < n; ++i)
      for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(begin + i)]);
           k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(begin + i) + 1]); ++k)
        if (const std::int64_t j = a.entry_columns[k] - begin; j >= 0 && j < n)
          tile[static_cast<std::size_t>(i * n + j)] = a.values[k];
    const std::vector<double> inverse = absolute_inverse(std::move(tile), n, shift);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        made.entry_columns.push_back(static_cast<std::int32_t>(begin + j));
        made.values.push_back(inverse[static_cast<std::size_t>(i * n + j)]);
      }
      made.row_starts.push_back(made.row_starts.back() + n);
    }
  }
  return made;
}

/// W = p(A) R by Chebyshev iteration for (A - pole) W = R: Saad, Iterative Methods for Sparse Linear Systems, algorithm
/// 12.1. The direction is kept divided by a number that is known beforehand, so that it is only added to. Where that
/// number would leave the range of doubles, it stays as it is, and the direction shrinks instead.
void record_polynomial(const linear_operator& a, const inverse_polynomial& p, const block_vector& r,
                       const block_vector& w) {
  const double centre = 0.5 * (p.near + p.far) - p.pole, half_width = 0.5 * (p.far - p.near);
  program_state& owner = *r.data().owner;
  const scratch_block rest(owner, r.columns()), one(owner, r.columns()), other(owner, r.columns());
  const std::array directions{one.block(), other.block()};
  copy(r, rest);
  axpby(1 / centre, r, 0, directions[0]);
  copy(directions[0], w);
  constexpr double least = 1e-100;
  double rho = half_width / centre, size = 1;
  for (int k = 1; k < p.degree; ++k) {
    const block_vector &now = directions[static_cast<std::size_t>(k - 1) % 2],
                       &next = directions[static_cast<std::size_t>(k) % 2];
    apply(-size, a, now, 1, rest);
    axpy(size * p.pole, now, rest);
    const double following = 1 / (2 * centre / half_width - rho), shrinking = following * rho;
    copy(now, next);
    if (size * shrinking > least)
      size *= shrinking;
    else
      axpy(shrinking - 1, now, next);
    axpy(2 * following / (half_width * size), rest, next);
    axpy(size, next, w);
    rho = following;
  }
}

class polynomial_node final : public plain_node {
 public:
  polynomial_node(const linear_operator& a, const inverse_polynomial& p)
      : plain_node("chebyshev of " + a.name(), a.rows(), facts_of(a, p)), m_a(a), m_polynomial(p) {}
  std::optional<bool> symmetric() const override {
    return m_a.is_symmetric() == true ? std::optional(true) : std::nullopt;
  }
  linear_operator transposed() const override { return make_operator<polynomial_node>(m_a.transposed(), m_polynomial); }

 private:
  static operator_facts facts_of(const linear_operator& a, const inverse_polynomial& p) {
    constexpr double of_recurrence = 10;  // numbers and operations for each product
    const work_count product = a.work(1);
    const double steps = p.degree - 1, rows = static_cast<double>(a.rows());
    return {.flops = steps * (product.flops + of_recurrence * rows),
            .bytes = steps * (product.bytes + of_recurrence * rows * sizeof(double))};
  }
  void record_product(const block_vector& x, const block_vector& y) const override {
    record_polynomial(m_a, m_polynomial, x, y);
  }
  const linear_operator m_a;
  const inverse_polynomial m_polynomial;
};

}  // namespace

linear_operator linear_operator::jacobi(const csr_matrix& a, double shift) {
  require_well_formed(a);
  std::vector<double> factors = diagonal_of(a);
  double largest = 0, sum = 0;
  for (double& d : factors) d += shift;
  for (const double d : factors) largest = std::max(largest, std::abs(d));
  // What rounding leaves of a diagonal says nothing, and its inverse covers all other residuals with that of its row.
  // Of a positive matrix it is a row of zeros.
  const double least = std::numeric_limits<double>::epsilon() * largest;
  const auto told = [&](double d) { return std::abs(d) > least; };
  for (const double d : factors) sum += told(d) ? std::abs(d) / largest : 0;
  const auto count = static_cast<double>(std::ranges::count_if(factors, told));
  const double instead = count > 0 ? count / sum / largest / part_of_mean : 1;
  for (double& d : factors) d = told(d) ? 1 / std::abs(d) : instead;
  return diagonal(std::move(factors), "jacobi of " + a.name);
}

linear_operator linear_operator::block_jacobi(const csr_matrix& a, std::int64_t tile_rows, double shift) {
  require_well_formed(a);
  if (tile_rows < 1 || a.rows != a.columns)
    throw error(error_kind::usage,
                fmt::format("tiles of {} rows of a matrix that is {} x {}", tile_rows, a.rows, a.columns), a.name,
                "at least one row, of a square matrix");
  return inverse_tiles(a, tile_rows, shift);
}

linear_operator linear_operator::chebyshev(const linear_operator& a, const inverse_polynomial& p) {
  const double from = p.near - p.pole, to = p.far - p.pole;
  if (p.degree < 1 || !(from * to > 0) || !(std::abs(from) < std::abs(to)) || !std::isfinite(to))
    throw error(
        error_kind::usage,
        fmt::format("a polynomial of degree {} near 1 / (t - {:g}) from {:g} to {:g}", p.degree, p.pole, p.near, p.far),
        a.name(), "a degree of at least 1; near and far on one side of the pole, far behind near");
  return make_operator<polynomial_node>(a, p);
}

}  // namespace tessera::sparse
