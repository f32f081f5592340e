#pragma once
// Matrices whose entries are too large or too small to be squared.
#include <functional>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// Whether squares of numbers as large as the entries are neither infinite nor as good as zero.
bool has_moderate_scale(const csr_matrix& a);

/// What a solver finds of the matrix. Squares of residuals, and their products with A, must be neither infinite nor as
/// good as zero: where an entry is above 2^200, or all are below 2^-200, `solve` gets the product of the matrix with a
/// power of two, which changes no digit, and options for it.
eigenpairs at_moderate_scale(const csr_matrix& a, const eigen_options& o,
                             const std::function<eigenpairs(const csr_matrix&, const eigen_options&)>& solve);

}  // namespace tessera::sparse
