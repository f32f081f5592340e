#include "libraries/sparse/solver/mass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/envelope.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"

namespace tessera::sparse {
namespace {

/// Of the smallest eigenvalue: what B is divided by.
constexpr double part_of_least = 0.9;

[[noreturn]] void refuse_mass(const csr_matrix& b, std::string message) {
  throw error(error_kind::input, std::move(message), b.name, "the mass matrix must be positive definite");
}

/// What rounding leaves unknown of it.
double unknown(const eigenvalue& of) { return of.error_bound - of.residual; }

/// B by its norm, where its factor takes some seconds and 128 MiB at most; there are two for a moment.
std::optional<envelope_factor> affordable_factor(csr_matrix b) {
  constexpr double max_elements = 1 << 24, max_operations = 4e9;
  const double norm = infinity_norm(b);
  if (!(norm > 0) || !std::isfinite(norm)) return std::nullopt;
  for (double& v : b.values) v /= norm;
  envelope_factor made(b);
  if (made.elements() > max_elements || made.operations() > max_operations) return std::nullopt;
  return made;
}

/// By inverse iteration, whose value is too large until it ends: it does where a factor of B minus nine tenths of it is
/// there, so that no eigenvalue is smaller than these. None where B is not positive definite for its factor, or that
/// does not come.
std::optional<eigenvalue> by_inverse_iteration(const csr_matrix& b, envelope_factor factor) {
  constexpr int max_steps = 320, steps_to_first_attempt = 10;
  if (!factor.factorize(0)) return std::nullopt;
  const double norm = infinity_norm(b);
  std::vector<double> x = random_start(b.rows, 1);
  int next_attempt = steps_to_first_attempt;
  for (int step = 1; step <= max_steps; ++step) {
    factor.solve(x);
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    if (!std::isfinite(length)) return std::nullopt;
    for (double& v : x) v /= length;
    if (step != next_attempt) continue;
    next_attempt *= 2;
    const std::vector<double> bx = plain_product(factor.matrix(), x);
    const double value = std::inner_product(x.begin(), x.end(), bx.begin(), 0.0);
    envelope_factor below = factor;
    if (!(value > 0) || !below.factorize(part_of_least * value)) continue;
    double square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) square += (bx[i] - value * x[i]) * (bx[i] - value * x[i]);
    eigenvalue found = rule_for(b, {.tolerance = 0}).judged(norm * value, norm * std::sqrt(square));
    found.converged = true;
    return found;
  }
  return std::nullopt;
}

/// Of the first attempt that finds it; each is slower than the one before. The options are those of the problem.
eigenvalue smallest_eigenvalue(runtime& rt, const csr_matrix& b, const eigen_options& o) {
  constexpr std::int64_t few_rows = 300, max_dense_rows = 1000;
  constexpr int few_iterations = 300;
  eigen_options how{.pairs = 1, .tolerance = 1e-3, .compare = criterion::relative};
  const auto found = [&](std::int64_t block, preconditioning with) {
    how.block = block, how.precondition = with;
    return lobpcg(rt, b, how).values[0];
  };
  if (b.rows <= few_rows) return found(b.rows, preconditioning::none);
  const std::optional<envelope_factor> factor = b.rows > max_dense_rows ? affordable_factor(b) : std::nullopt;
  if (factor) how.max_iterations = few_iterations;
  const eigenvalue first = found(0, preconditioning::jacobi);
  if (first.converged || first.value <= unknown(first)) return first;
  if (b.rows <= max_dense_rows) return found(b.rows, preconditioning::none);
  if (factor)
    if (const auto by_factor = by_inverse_iteration(b, *factor)) return *by_factor;
  how.max_iterations = std::max(eigen_options{}.max_iterations, o.max_iterations);
  return found(std::max<std::int64_t>(16, o.block), preconditioning::block_jacobi);
}

}  // namespace

scaled_mass scaled(runtime& rt, const csr_matrix& b, std::int64_t rows, const eigen_options& o) {
  require_well_formed(b);
  require_symmetric(b);
  if (b.rows != rows)
    throw error(error_kind::input,
                fmt::format("the mass matrix is {} x {}, and the matrix {} x {}", b.rows, b.columns, rows, rows),
                b.name, "both belong to one problem");
  const std::vector<double> diagonal = diagonal_of(b);
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    if (!(diagonal[i] > 0)) refuse_mass(b, fmt::format("element ({}, {}) is {}", i + 1, i + 1, diagonal[i]));
  const eigenvalue smallest = smallest_eigenvalue(rt, b, o);
  if (smallest.value <= unknown(smallest))
    refuse_mass(b, fmt::format("it is singular or indefinite: it has an eigenvalue of {:.3g}, within {:.1e}",
                               smallest.value, smallest.error_bound));
  if (!smallest.converged)
    throw error(error_kind::numerical, "the smallest eigenvalue of the mass matrix is not found", b.name,
                "more --iterations or a larger --block, which this search has too; it may be nearly singular");
  scaled_mass made{b, part_of_least * smallest.value};
  for (double& v : made.matrix.values) v /= made.least;
  return made;
}

}  // namespace tessera::sparse
