#pragma once
// What helps where pairs did not converge.
#include <optional>
#include <string>

#include "libraries/sparse/solver/solvers.hpp"

namespace tessera::sparse {

/// A run that has ended without all pairs.
struct unfinished_run {
  const eigensolver& by;
  const eigen_options& options;  ///< its preconditioning is not `automatic`
  const eigenpairs& found;
  std::int64_t order;  ///< rows of the matrix, of a complex one complex rows
  /// At the pace of the last ones, if it is known; infinite where residuals do not fall, 0 where estimates say so.
  std::optional<double> iterations_left;
  bool preconditioner_asked = false;  ///< by name, so that a solver without one refuses it
};

/// Options of `tessera eigs` that help, what is surest first; none that the run had, or that it would refuse.
std::string hint_for(const unfinished_run& run);

}  // namespace tessera::sparse
