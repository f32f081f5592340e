#pragma once
// Built-in dense operations: arguments and definitions. Matrices are whole blocks of rank 2 (rank 0 and 1 count as
// columns), column-major without padding. The source of the algorithms is the BLAS and LAPACK interface; the work is
// done by the BLAS table of the device that runs the task.
#include <complex>

#include "core/operation/definition.hpp"

namespace tessera::operation {

/// C = alpha op(A) op(B) + beta C. Blocks: A read, B read, C update (write when beta is 0). Scalars are complex so that
/// one struct serves all types; imaginary parts are ignored for real types.
struct gemm_arguments {
  std::complex<double> alpha = 1;               ///< factor of the product
  std::complex<double> beta = 1;                ///< factor of C
  std::uint8_t transpose_a = TSR_NO_TRANSPOSE;  ///< of tsr_transpose
  std::uint8_t transpose_b = TSR_NO_TRANSPOSE;  ///< likewise
  std::uint8_t unused[6] = {};                  ///< nothing is padding: equal arguments have equal bytes
};
/// Lower triangle of C = alpha A A^T + beta C. Blocks: A read, C update.
struct syrk_arguments {
  double alpha = 1;  ///< factor of the product
  double beta = 1;   ///< factor of C
};
/// B = alpha B A^-T with the lower triangle of A. Blocks: A read, B update.
struct trsm_arguments {
  double alpha = 1;  ///< factor of B
};
/// Cholesky factor of the lower triangle of A, in place. Blocks: A update, info write: one i32, 0 or the 1-based
/// failing pivot.
struct potrf_arguments {};
/// y += alpha x. Blocks: x read, y update or accumulate.
struct axpy_arguments {
  std::complex<double> alpha = 1;  ///< factor of x
};
/// x *= alpha. Blocks: x update.
struct scal_arguments {
  std::complex<double> alpha = 1;  ///< the factor
};

definition gemm();   ///< see gemm_arguments
definition syrk();   ///< see syrk_arguments
definition trsm();   ///< see trsm_arguments
definition potrf();  ///< see potrf_arguments
definition axpy();   ///< see axpy_arguments
definition scal();   ///< see scal_arguments

}  // namespace tessera::operation
