#pragma once
/// @file
/// Solvers of A x = b, for operators of any kind.
/// @code
/// const linear_solution s = conjugate_gradients(rt, a, b, {.preconditioner = linear_operator::jacobi(a)});
/// if (!s.converged()) std::fprintf(stderr, "stopped by %s\n", s.stopped.by.c_str());
/// @endcode
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tessera/sparse/linear_operator.hpp"
#include "tessera/sparse/program_options.hpp"
#include "tessera/sparse/stop_criterion.hpp"

namespace tessera::sparse {

/// Of every solver.
struct linear_solver_options {
  stop_criterion stop = stop::relative_residual(1e-8) | stop::iterations(1000);
  std::optional<linear_operator> preconditioner = {};  ///< roughly A^-1: symmetric, positive definite
  std::vector<double> guess = {};                      ///< rows x columns, row-major; empty: zeros
  program_options program = {};
  std::function<void(const solve_progress&)> report = {};  ///< called before the first iteration and behind each
};

/// What a solver has found.
struct linear_solution {
  std::vector<double> x;          ///< rows x columns, row-major
  std::vector<double> residuals;  ///< ||b - A x|| of each column, by one more product at the end
  stop_decision stopped;          ///< by which criterion, judged by these residuals; or "rounding"
  loop_outcome loop;              ///< of all iterations
  std::int64_t panels = 0;        ///< tasks of a pass over the rows
  bool converged() const noexcept { return stopped.converged; }  ///< all columns
};

/// The method of conjugate gradients (Hestenes and Stiefel, 1952), for A symmetric and positive definite. Columns are
/// solved side by side, each with coefficients of its own. Where a residual of a product is larger than the recurrence
/// said, it begins again from x.
/// @param b  rows x columns, row-major: as many columns as it has numbers for
/// Throws tessera::error: usage for sizes that do not fit, and a criterion that need not end; input for a matrix or
/// preconditioner that is not symmetric or not positive definite, and numbers that are not finite; numerical where an
/// operator makes numbers that are not finite; and what the operators throw.
linear_solution conjugate_gradients(runtime& rt, const linear_operator& a, std::span<const double> b,
                                    const linear_solver_options& options = {});
/// The method of minimal residuals (Paige and Saunders, SIAM J. Numer. Anal. 12 (1975) 617), for A symmetric, also
/// indefinite. Likewise.
linear_solution minres(runtime& rt, const linear_operator& a, std::span<const double> b,
                       const linear_solver_options& options = {});

}  // namespace tessera::sparse
