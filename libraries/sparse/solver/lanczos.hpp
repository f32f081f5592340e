#pragma once
// Eigenpairs of a symmetric sparse matrix by the block Lanczos method with thick restarts: Wu and Simon, SIAM J. Matrix
// Anal. Appl. 22 (2000) 602.
#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// Bytes that a solution takes at least, beside the matrix.
double min_memory_of_lanczos(const csr_matrix& a, const eigen_options& options);

/// The outermost `pairs` eigenvalues of one end or both, with their vectors; of both ends the smallest first. `block`
/// vectors are multiplied at a time, 4 by default; equal eigenvalues beyond that many may be missed. The basis is
/// orthogonalized in full, twice, or selectively; where that costs orthogonality, the search goes on in full. A matrix
/// that is not larger than the basis is solved as a dense one. Throws what require_solvable throws, and tessera::error:
/// usage for a preconditioner and a lag, input for a mass matrix that is not diagonal. What did not converge is
/// returned, and says so.
eigenpairs lanczos(runtime& rt, const csr_matrix& a, const eigen_options& options);

}  // namespace tessera::sparse
