// Preconditioners: one diagonal operation, or a list of operations that is recorded for each application.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libraries/lapack/lapack.hpp"
#include "libraries/sparse/program/call.hpp"

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
        made[static_cast<std::size_t>(i * n + j)] += vector[i] * values[static_cast<std::size_t>(k)] * vector[j];
  }
  return made;
}

/// The inverses of all diagonal tiles of A + shift as one matrix.
csr_matrix inverse_tiles(const csr_matrix& a, std::int64_t tile_rows, double shift) {
  csr_matrix made{.name = a.name + ", inverses of diagonal tiles",
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
void record_polynomial(const csr_matrix& a, const inverse_polynomial& p, const preconditioner& start,
                       const block_vector& r, const block_vector& w) {
  const double centre = 0.5 * (p.near + p.far) - p.pole, half_width = 0.5 * (p.far - p.near);
  const auto scratch = [&](int k) { return r.data().owner->scratch(k, r.columns()); };
  const block_vector rest = scratch(0), product = scratch(1);
  const std::array directions{scratch(2), scratch(3)};
  copy(r, rest);
  apply(start, r, directions[0]);
  copy(directions[0], w);
  constexpr double least = 1e-100;
  double rho = half_width / centre, size = 1;
  for (int k = 1; k < p.degree; ++k) {
    const block_vector &now = directions[static_cast<std::size_t>(k - 1) % 2],
                       &next = directions[static_cast<std::size_t>(k) % 2];
    mxm(a, now, product);
    axpy(-size, product, rest);
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

/// A block for an application in place. Applications inside of each other have blocks of their own.
class room_in_place {
 public:
  room_in_place(program_state& of, std::int64_t columns)
      : block(of.scratch(-1 - of.applied_in_place, columns)), m_program(of) {
    ++m_program.applied_in_place;
  }
  ~room_in_place() { --m_program.applied_in_place; }
  room_in_place(const room_in_place&) = delete;
  room_in_place& operator=(const room_in_place&) = delete;
  const block_vector block;

 private:
  program_state& m_program;
};

}  // namespace

preconditioner preconditioner::jacobi(const csr_matrix& a, double shift) {
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
  preconditioner made;
  made.m_factors = std::move(factors);
  return made;
}

preconditioner preconditioner::block_jacobi(const csr_matrix& a, std::int64_t tile_rows, double shift) {
  require_well_formed(a);
  if (tile_rows < 1 || a.rows != a.columns)
    throw error(error_kind::usage,
                fmt::format("tiles of {} rows of a matrix that is {} x {}", tile_rows, a.rows, a.columns), a.name,
                "at least one row, of a square matrix");
  return of([inverse = std::make_shared<const csr_matrix>(inverse_tiles(a, tile_rows, shift))](
                const block_vector& r, const block_vector& w) { mxm(*inverse, r, w); });
}

preconditioner preconditioner::chebyshev(const csr_matrix& a, const inverse_polynomial& p) {
  const double from = p.near - p.pole, to = p.far - p.pole;
  if (p.degree < 1 || !(from * to > 0) || !(std::abs(from) < std::abs(to)) || !std::isfinite(to))
    throw error(
        error_kind::usage,
        fmt::format("a polynomial of degree {} near 1 / (t - {:g}) from {:g} to {:g}", p.degree, p.pole, p.near, p.far),
        a.name, "a degree of at least 1; near and far on one side of the pole, far behind near");
  preconditioner start;
  start.m_factors.assign(static_cast<std::size_t>(a.rows), 1 / (0.5 * (from + to)));
  return of([&a, p, start = std::make_shared<const preconditioner>(std::move(start))](
                const block_vector& r, const block_vector& w) { record_polynomial(a, p, *start, r, w); });
}

preconditioner preconditioner::of(std::function<void(const block_vector& r, const block_vector& w)> record) {
  if (record == nullptr) throw error(error_kind::usage, "there is no function", "the preconditioner");
  preconditioner made;
  made.m_record = std::move(record);
  return made;
}

void apply(const preconditioner& m, const block_vector& r, const block_vector& w) {
  call c(operation_kind::apply_diagonal, "apply");
  c.reads(r), c.writes(w);
  c.expect_equal_columns(r, w);
  if (m.is_recorded()) {
    if (&r.data() != &w.data()) return m.record(r, w);
    const room_in_place made(c.owner(), r.columns());
    m.record(r, made.block);
    return copy(made.block, w);
  }
  if (std::ssize(m.factors()) != r.rows())
    refuse_call("apply",
                fmt::format("the preconditioner has {} rows, and {} has {}", m.factors().size(), r.name(), r.rows()));
  c.made().diagonal = m.factors().data();
  c.record();
}

}  // namespace tessera::sparse
