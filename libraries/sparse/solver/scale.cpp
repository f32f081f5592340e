#include "libraries/sparse/solver/scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::sparse {
namespace {

/// Of the power of two; 0: none.
int exponent_of_scale(const csr_matrix& a) {
  constexpr double least = 0x1p-200, most = 0x1p200;
  double largest = 0;
  for (const double v : a.values) largest = std::max(largest, std::abs(v));
  return largest == 0 || (largest >= least && largest <= most) ? 0 : -std::ilogb(largest);
}

/// The options for a matrix that is 2^exponent times as large.
eigen_options options_for_scale(eigen_options o, int exponent) {
  if (o.compare == criterion::absolute) o.tolerance = std::ldexp(o.tolerance, exponent);
  if (o.report)
    o.report = [tell = std::move(o.report), exponent](eigen_progress now) {
      now.largest_residual = std::ldexp(now.largest_residual, -exponent);
      for (pair_progress& p : now.of_pairs)
        for (double* const number : {&p.value, &p.residual, &p.wanted}) *number = std::ldexp(*number, -exponent);
      tell(now);
    };
  return o;
}

/// What was found of a matrix that is 2^exponent times as large.
eigenpairs scaled_back(eigenpairs found, int exponent) {
  for (eigenvalue& e : found.values) {
    e.value = std::ldexp(e.value, -exponent), e.residual = std::ldexp(e.residual, -exponent);
    // Below the normal numbers the value itself is rounded, by half of the smallest one at most.
    e.error_bound = std::ldexp(e.error_bound, -exponent) + std::numeric_limits<double>::denorm_min();
  }
  for (double& v : found.passed_over) v = std::ldexp(v, -exponent);
  found.norm = std::ldexp(found.norm, -exponent);
  return found;
}

}  // namespace

bool has_moderate_scale(const csr_matrix& a) { return exponent_of_scale(a) == 0; }

eigenpairs at_moderate_scale(const csr_matrix& a, const eigen_options& o,
                             const std::function<eigenpairs(const csr_matrix&, const eigen_options&)>& solve) {
  const int exponent = exponent_of_scale(a);
  if (exponent == 0) return solve(a, o);
  return scaled_back(solve(times_power_of_two(a, exponent), options_for_scale(o, exponent)), exponent);
}

}  // namespace tessera::sparse
