#pragma once
// Copies of matrices that solvers make for themselves.
#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// Bytes, on the host, of copies with other values: of A for a diagonal B and for a scale that is not moderate, of a B
/// that is not diagonal.
double memory_of_copies(const csr_matrix& a, const eigen_options& o);

}  // namespace tessera::sparse
