#pragma once
// The second matrix of A x = lambda B x.
#include "libraries/sparse/solver/eigenpairs.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// B / least, whose smallest eigenvalue is 1: the error of an eigenvalue of A x = lambda (B / least) x is at most the
/// residual of a vector with x^T (B / least) x = 1, as in a problem without B.
struct scaled_mass {
  csr_matrix matrix;
  double least;  ///< the smallest eigenvalue of B, a tenth of it less
};

/// Throws tessera::error: input for a B of other rows than `rows`, one that is not symmetric or not positive definite;
/// numerical when its smallest eigenvalue is not found. It is looked for by LOBPCG, or as that of a dense matrix where
/// B has some hundred rows, or LOBPCG fails and it has some thousand at most. Where it has more, by inverse iteration
/// with its Cholesky factor; where that is too large, LOBPCG tries again with tiles as preconditioner, and at least as
/// many iterations and vectors in the block as the options of the problem have.
scaled_mass scaled(runtime& rt, const csr_matrix& b, std::int64_t rows, const eigen_options& o = {});

}  // namespace tessera::sparse
