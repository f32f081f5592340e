#include "apps/sparse/solver/mass.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/sparse/solver/lobpcg.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

[[noreturn]] void refuse_mass(const csr_matrix& b, std::string message) {
  throw error(error_kind::input, std::move(message), b.name, "the mass matrix must be positive definite");
}

/// What rounding leaves unknown of it.
double unknown(const eigenvalue& of) { return of.error_bound - of.residual; }

/// Of the first attempt that finds it; each is slower than the one before. The options are those of the problem.
eigenvalue smallest_eigenvalue(runtime& rt, const csr_matrix& b, const eigen_options& o) {
  constexpr std::int64_t few_rows = 300, most_dense_rows = 1000;
  eigen_options how{.pairs = 1, .tolerance = 1e-3, .compare = criterion::relative};
  const auto found = [&](std::int64_t block, preconditioning with) {
    how.block = block, how.precondition = with;
    return lobpcg(rt, b, how).values[0];
  };
  if (b.rows <= few_rows) return found(b.rows, preconditioning::none);
  const eigenvalue first = found(0, preconditioning::jacobi);
  if (first.converged || first.value <= unknown(first)) return first;
  if (b.rows <= most_dense_rows) return found(b.rows, preconditioning::none);
  how.most_iterations = std::max(how.most_iterations, o.most_iterations);
  return found(std::max<std::int64_t>(16, o.block), preconditioning::block_jacobi);
}

}  // namespace

scaled_mass scaled(runtime& rt, const csr_matrix& b, std::int64_t rows, const eigen_options& o) {
  require_well_formed(b);
  require_symmetric(b);
  if (b.rows != rows)
    throw error(error_kind::input, fmt::format("the mass matrix has {} rows, and the matrix has {}", b.rows, rows),
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
  scaled_mass made{b, 0.9 * smallest.value};
  for (double& v : made.matrix.values) v /= made.least;
  return made;
}

}  // namespace tessera::sparse
