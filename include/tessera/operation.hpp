#pragma once
// Operations of a program's own (docs/kernels.md): definitions, what they see when they run, kernels, and the tables of
// the device that runs them.
#include "core/operation/catalog.hpp"
#include "core/operation/context.hpp"
#include "core/operation/definition.hpp"
#include "core/operation/kernel.hpp"
#include "core/plugin/device.hpp"
#include "tessera/detail/array.hpp"
#include "tessera/detail/recording.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {

/// The operations that every runtime has; front_end.hpp has their arguments.
struct builtin_operations {
  const operation::definition* gemm;     ///< C = alpha op(A) op(B) + beta C; blocks A read, B read, C update or write
  const operation::definition* syrk;     ///< lower triangle of C = alpha A A^T + beta C; A read, C update
  const operation::definition* trsm;     ///< B = alpha B L^-T; A read, B update
  const operation::definition* potrf;    ///< Cholesky factor of the lower triangle; A update, info write
  const operation::definition* axpy;     ///< y += alpha x; x read, y update or accumulate
  const operation::definition* scal;     ///< x *= alpha; x update
  const operation::definition* permute;  ///< dimensions reordered; source read, destination update or write
  const operation::definition*
      contract;  ///< C = alpha A B + beta C over labelled dimensions; A read, B read, C update or write
  const operation::definition* fill;    ///< every element one value; destination write
  const operation::definition* reduce;  ///< destination plus all sources; destination update or write, sources read
};

}  // namespace tessera
