#pragma once
// Built-in dense operations: arguments and definitions. Matrices are whole blocks of rank 2 (rank 0 and 1 count as
// columns), column-major without padding. The source of the algorithms is the BLAS and LAPACK interface; the work is done
// by the BLAS table of the device that runs the task.
#include <complex>

#include "core/operation/definition.hpp"

namespace tessera::operation {

/// Scalars are complex so that one argument struct serves all types; imaginary parts are ignored for real types.
struct gemm_arguments {  ///< blocks: A read, B read, C update (write when beta is 0)
  std::complex<double> alpha = 1, beta = 1;
  std::uint8_t transpose_a = TSR_NO_TRANSPOSE, transpose_b = TSR_NO_TRANSPOSE;
};
struct syrk_arguments {  ///< blocks: A read, C update; lower triangle: C = alpha A A^T + beta C
  double alpha = 1, beta = 1;
};
struct trsm_arguments {  ///< blocks: triangle A read, B update; B = alpha B A^-T for the lower triangle, right side
  double alpha = 1;
};
struct potrf_arguments {};  ///< blocks: A update (lower triangle), info write: one i32, 0 or the 1-based failing pivot
struct axpy_arguments {     ///< blocks: x read, y update or accumulate
  std::complex<double> alpha = 1;
};
struct scal_arguments {  ///< blocks: x update
  std::complex<double> alpha = 1;
};

definition gemm();
definition syrk();
definition trsm();
definition potrf();
definition axpy();
definition scal();

}  // namespace tessera::operation
