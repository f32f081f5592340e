#pragma once
// Matrices whose values are rounded to single precision, so that they take half the memory.
#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// A matrix whose values are all numbers of single precision.
struct single_matrix {
  csr_matrix matrix;
  double change = 0;  ///< infinity norm of what rounding changed: eigenvalues move by that much at most
};

/// The symmetric matrix with rounded values, symmetric in every bit. Its forms store them in single precision (see
/// matrix_form), and vectors stay as they are. Throws tessera::error of kind input for a value that is too large for
/// single precision.
single_matrix rounded_to_single(csr_matrix a);

}  // namespace tessera::sparse
