#pragma once
// Eigenpairs of a symmetric sparse matrix by LOBPCG: Knyazev, SIAM J. Sci. Comput. 23 (2001) 517.
#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// Bytes that a solution takes at least, beside the matrices. Throws what lobpcg throws for the block.
double min_memory_of_lobpcg(const csr_matrix& a, const eigen_options& options);

/// The `pairs` smallest or largest eigenvalues with their vectors. A matrix of fewer rows than ten blocks is solved
/// as a dense one. Throws tessera::error: what require_solvable throws, usage for a block smaller than the pairs and
/// for selective reorthogonalization, numerical when the directions break down, and what `scaled` throws for the mass
/// matrix. What did not converge is returned, and says so.
eigenpairs lobpcg(runtime& rt, const csr_matrix& a, const eigen_options& options);

}  // namespace tessera::sparse
