#pragma once
// Eigenpairs of a symmetric sparse matrix by subspace iteration with Chebyshev filters: Zhou, Saad, Tiago and
// Chelikowsky, J. Comput. Phys. 219 (2006) 172.
#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// Bytes that a solution takes at least, beside the matrix. Throws what chebyshev throws for the block.
double min_memory_of_chebyshev(const csr_matrix& a, const eigen_options& options);

/// The outermost `pairs` eigenvalues of one end or both, with their vectors; of both ends the smallest first. An
/// iteration multiplies a block by a polynomial of A that damps the rest of the spectrum, and makes Ritz vectors of it
/// once. A matrix of fewer rows than three blocks is solved as a dense one. Throws what require_solvable throws, and
/// tessera::error: usage for a block smaller than the pairs, a preconditioner and selective reorthogonalization, input
/// for a mass matrix that is not diagonal. What did not converge is returned, and says so.
eigenpairs chebyshev(runtime& rt, const csr_matrix& a, const eigen_options& options);

}  // namespace tessera::sparse
