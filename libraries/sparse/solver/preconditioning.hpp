#pragma once
// The preconditioner that a solver's options ask for.
#include <optional>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// What is asked for; where that is `automatic`, what is chosen for the matrix: of A x = lambda B x with a diagonal B
/// for B^-1/2 A B^-1/2, with another one for A and B.
preconditioning chosen_preconditioning(const csr_matrix& a, const eigen_options& o);

/// How far A is shifted so that the end of its spectrum that is asked for is on one side of 0, as Jacobi
/// preconditioners need it: not at all where the Ritz value nearest to that end, or all of the spectrum, is on the side
/// of the other end. A matrix that is positive definite is not shifted for its smallest eigenvalues.
double shift_for(double outermost_ritz_value, spectrum_end end) noexcept;
/// Whether the Ritz value has gone so far that shift_for should be asked again.
/// A value within `rounding` is as good as 0: a shift by it would make an element 0 of the diagonal a tiny one.
bool is_too_small(double shift, double outermost_ritz_value, spectrum_end end, double rounding) noexcept;

/// None for preconditioning::none. Jacobi ones are of A + shift, or A + shift B. A Chebyshev polynomial gets the bounds
/// of the spectrum by spectrum_bounds, and is near the inverse from a 30th of the spectrum beside the end that is asked
/// for.
std::optional<linear_operator> preconditioner_for(runtime& rt, const csr_matrix& a, const eigen_options& o,
                                                  double shift = 0);

/// Block vectors that its application needs.
std::int64_t blocks_of_preconditioner(const eigen_options& o) noexcept;
/// Bytes of the matrix that it multiplies by, where that is one of its own.
double matrix_of_preconditioner(const csr_matrix& a, const eigen_options& o) noexcept;

}  // namespace tessera::sparse
