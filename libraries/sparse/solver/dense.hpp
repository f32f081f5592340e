#pragma once
// Small sparse matrices as dense ones.
#include "libraries/sparse/solver/convergence.hpp"

namespace tessera::sparse {

/// All eigenvalues of a small matrix; those that are asked for are kept. Throws tessera::error (numerical) when they do
/// not converge.
eigenpairs dense_pairs(const csr_matrix& a, const eigen_options& o, const stopping_rule& rule);

}  // namespace tessera::sparse
