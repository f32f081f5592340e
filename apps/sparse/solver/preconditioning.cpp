#include "apps/sparse/solver/preconditioning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/sparse/solver/diagonal_mass.hpp"
#include "apps/sparse/solver/spectrum_bounds.hpp"

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

}  // namespace

preconditioning chosen_preconditioning(const csr_matrix& a, const eigen_options& o) {
  if (o.precondition != preconditioning::automatic) return o.precondition;
  std::vector<double> diagonal = diagonal_of(a);
  if (has_diagonal_mass(a, o)) {
    const std::vector<double> of_mass = diagonal_of(*o.mass);
    for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] /= of_mass[i];
  } else if (o.mass != nullptr) {
    const bool upper = o.which == spectrum_end::largest;
    if (!std::ranges::all_of(diagonal, [upper](double d) { return upper ? d <= 0 : d >= 0; }))
      return preconditioning::none;
  }
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const double d : diagonal) least = std::min(least, std::abs(d)), largest = std::max(largest, std::abs(d));
  constexpr double alike = 2;
  return largest > alike * least ? preconditioning::jacobi : preconditioning::none;
}

double shift_for(double outermost_ritz_value, spectrum_end end) noexcept {
  const bool beyond_zero = end == spectrum_end::largest ? outermost_ritz_value > 0 : outermost_ritz_value < 0;
  return beyond_zero ? -2 * outermost_ritz_value : 0;
}

bool is_too_small(double shift, double outermost_ritz_value, spectrum_end end, double rounding) noexcept {
  return std::abs(outermost_ritz_value) > rounding &&
         std::abs(shift_for(outermost_ritz_value, end)) > 2 * std::abs(shift);
}

std::optional<preconditioner> preconditioner_for(runtime& rt, const csr_matrix& a, const eigen_options& o,
                                                 double shift) {
  switch (chosen_preconditioning(a, o)) {
    case preconditioning::automatic:
    case preconditioning::none:
      break;
    case preconditioning::jacobi:
      return preconditioner::jacobi(a, shift);
    case preconditioning::block_jacobi:
      return preconditioner::block_jacobi(a, rows_of_tile, shift);
    case preconditioning::chebyshev:
      if (const auto p = polynomial_for(rt, a, o)) return preconditioner::chebyshev(a, *p);
      break;
  }
  return std::nullopt;
}

std::int64_t blocks_of_preconditioner(const eigen_options& o) noexcept {
  switch (o.precondition) {
    case preconditioning::block_jacobi:
      return 1;  // the residual
    case preconditioning::chebyshev:
      return 5;  // and what the recurrence keeps
    default:
      return 0;
  }
}

}  // namespace tessera::sparse
