#pragma once
// Eigenpairs of a symmetric sparse matrix by LOBPCG: Knyazev, SIAM J. Sci. Comput. 23 (2001) 517.
#include "apps/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// The `pairs` smallest or largest eigenvalues with their vectors. A matrix of fewer rows than three blocks is solved
/// as a dense one. Throws tessera::error: usage for a block smaller than the pairs and more pairs than rows, numerical
/// when the directions break down, and what `scaled` throws for the mass matrix. What did not converge is returned, and
/// says so.
eigenpairs lobpcg(runtime& rt, const csr_matrix& a, const eigen_options& options);

}  // namespace tessera::sparse
