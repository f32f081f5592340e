#pragma once
// The second matrix of A x = lambda B x.
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// B / least, whose smallest eigenvalue is 1: the error of an eigenvalue of A x = lambda (B / least) x is at most the
/// residual of a vector with x^T (B / least) x = 1, as in a problem without B.
struct scaled_mass {
  csr_matrix matrix;
  double least;  ///< the smallest eigenvalue of B, a tenth of it less
};

/// Throws tessera::error: input for a B of other rows than `rows`, one that is not symmetric or not positive definite;
/// numerical when its smallest eigenvalue is not found, by LOBPCG.
scaled_mass scaled(runtime& rt, const csr_matrix& b, std::int64_t rows);

}  // namespace tessera::sparse
