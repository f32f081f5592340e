#include "apps/sparse/solver/mass.hpp"

#include <fmt/format.h>

#include "apps/sparse/solver/lobpcg.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

[[noreturn]] void refuse_mass(const csr_matrix& b, std::string message) {
  throw error(error_kind::input, std::move(message), b.name, "the mass matrix must be positive definite");
}

}  // namespace

scaled_mass scaled(runtime& rt, const csr_matrix& b, std::int64_t rows) {
  require_well_formed(b);
  require_symmetric(b);
  if (b.rows != rows)
    throw error(error_kind::input, fmt::format("the mass matrix has {} rows, and the matrix has {}", b.rows, rows),
                b.name, "both belong to one problem");
  const std::vector<double> diagonal = diagonal_of(b);
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    if (!(diagonal[i] > 0)) refuse_mass(b, fmt::format("element ({}, {}) is {}", i + 1, i + 1, diagonal[i]));
  const eigenvalue smallest =
      lobpcg(rt, b,
             {.pairs = 1, .tolerance = 1e-3, .compare = criterion::relative, .precondition = preconditioning::jacobi})
          .values[0];
  const double unknown = smallest.error_bound - smallest.residual;
  if (smallest.value <= unknown)
    refuse_mass(b, fmt::format("it is singular or indefinite: it has an eigenvalue of {:.3g}, within {:.1e}",
                               smallest.value, smallest.error_bound));
  if (!smallest.converged)
    throw error(error_kind::numerical, "the smallest eigenvalue of the mass matrix is not found", b.name,
                "it may be nearly singular");
  scaled_mass made{b, 0.9 * smallest.value};
  for (double& v : made.matrix.values) v /= made.least;
  return made;
}

}  // namespace tessera::sparse
