#include "libraries/sparse/solver/preconditioning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libraries/sparse/solver/diagonal_mass.hpp"
#include "libraries/sparse/solver/spectrum_bounds.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t rows_of_tile = 16;

/// Large near the end that is asked for, of one sign everywhere.
std::optional<inverse_polynomial> polynomial_for(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  constexpr double part = 1.0 / 30;
  constexpr int usual_degree = 8;
  const spectrum_interval all = spectrum_bounds(rt, a, o.program, o.seed);
  if (!(all.width() > 1e-12 * infinity_norm(a))) return std::nullopt;  // one eigenvalue: there is nothing to damp
  const int degree = o.degree != 0 ? o.degree : usual_degree;
  if (o.which == spectrum_end::largest)
    return inverse_polynomial{all.upper, all.upper - part * all.width(), all.lower, degree};
  return inverse_polynomial{all.lower, all.lower + part * all.width(), all.upper, degree};
}

/// Whether absolute values differ by more than a factor of two.
bool varies(const std::vector<double>& numbers) {
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const double d : numbers) least = std::min(least, std::abs(d)), largest = std::max(largest, std::abs(d));
  constexpr double alike = 2;
  return largest > alike * least;
}

/// A + shift B.
csr_matrix shifted(const csr_matrix& a, double shift, const csr_matrix& b) {
  std::vector<triplet> entries;
  entries.reserve(a.values.size() + b.values.size());
  const auto add = [&](const csr_matrix& m, double factor) {
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (auto k = static_cast<std::size_t>(m.row_starts[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(m.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
        entries.push_back({static_cast<std::int32_t>(i), m.entry_columns[k], factor * m.values[k]});
  };
  add(a, 1), add(b, shift);
  return matrix_of(a.name, a.rows, a.columns, entries);
}

}  // namespace

preconditioning chosen_preconditioning(const csr_matrix& a, const eigen_options& o) {
  if (o.precondition != preconditioning::automatic) return o.precondition;
  std::vector<double> diagonal = diagonal_of(a);
  if (has_diagonal_mass(a, o)) {
    const std::vector<double> of_mass = diagonal_of(*o.mass);
    for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] /= of_mass[i];
  } else if (o.mass != nullptr && varies(diagonal_of(*o.mass))) {
    return preconditioning::jacobi;
  }
  return varies(diagonal) ? preconditioning::jacobi : preconditioning::none;
}

double shift_for(double outermost_ritz_value, spectrum_end end) noexcept {
  const bool beyond_zero = end == spectrum_end::largest ? outermost_ritz_value > 0 : outermost_ritz_value < 0;
  return beyond_zero ? -2 * outermost_ritz_value : 0;
}

bool is_too_small(double shift, double outermost_ritz_value, spectrum_end end, double rounding) noexcept {
  return std::abs(outermost_ritz_value) > rounding &&
         std::abs(shift_for(outermost_ritz_value, end)) > 2 * std::abs(shift);
}

std::optional<linear_operator> preconditioner_for(runtime& rt, const csr_matrix& a, const eigen_options& o,
                                                  double shift) {
  const preconditioning kind = chosen_preconditioning(a, o);
  if (kind == preconditioning::jacobi || kind == preconditioning::block_jacobi) {
    const bool with_mass = o.mass != nullptr && shift != 0;
    const csr_matrix sum = with_mass ? shifted(a, shift, *o.mass) : csr_matrix{};
    const csr_matrix& of = with_mass ? sum : a;
    const double rest = with_mass ? 0 : shift;
    return kind == preconditioning::jacobi ? linear_operator::jacobi(of, rest)
                                           : linear_operator::block_jacobi(of, rows_of_tile, rest);
  }
  if (kind == preconditioning::chebyshev)
    if (const auto p = polynomial_for(rt, a, o)) return linear_operator::chebyshev(a, *p);
  return std::nullopt;
}

std::int64_t blocks_of_preconditioner(const eigen_options& o) noexcept {
  if (o.preconditioner) return o.preconditioner->works_in_place() ? 0 : 1;
  switch (o.precondition) {
    case preconditioning::block_jacobi:
      return 1;  // the residual
    case preconditioning::chebyshev:
      return 4;  // and what the recurrence keeps
    default:
      return 0;
  }
}

double matrix_of_preconditioner(const csr_matrix& a, const eigen_options& o) noexcept {
  if (o.preconditioner) return 0;
  if (o.precondition != preconditioning::block_jacobi) return 0;
  constexpr double of_row = rows_of_tile * (sizeof(double) + sizeof(std::int32_t)) + sizeof(std::int64_t);
  return of_row * static_cast<double>(a.rows);
}

}  // namespace tessera::sparse
