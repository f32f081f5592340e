#pragma once
// A second matrix that is diagonal.
#include <functional>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// Whether there is a mass matrix, of A's rows, in which no element beside the diagonal differs from 0.
bool has_diagonal_mass(const csr_matrix& a, const eigen_options& o);

/// What `solve`, for matrices alone, finds of A x = lambda B x with a diagonal B: it gets B^-1/2 A B^-1/2 and options
/// without B. A residual is compared with the tolerance, and bounds the error, as ||B^-1/2 (A x - lambda B x)||; what
/// is told is ||A x - lambda B x||. Without B it gets A. Throws tessera::error (input) for a B of other rows than A,
/// and one that is not diagonal and positive; `solver` is for the message.
eigenpairs with_diagonal_mass(const csr_matrix& a, const eigen_options& o, const char* solver,
                              const std::function<eigenpairs(const csr_matrix&, const eigen_options&)>& solve);

}  // namespace tessera::sparse
