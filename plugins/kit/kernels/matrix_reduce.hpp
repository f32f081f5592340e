#pragma once
// Reductions of a matrix's rows or columns, on host pointers. The pattern of tensor_call.hpp.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// F32, F64, C64, C128, I32, I64; MIN and MAX not of complex numbers.
bool reduce_supports(tsr_type type) noexcept;

/// Result i is the reduction of `length` elements, those at source + i * result_step + k * step.
struct matrix_reduce_call {
  tsr_type type;
  tsr_reduction reduction;
  std::int64_t results, length;
  std::int64_t result_step, step;  ///< in elements; one of the two is 1
  const void* source;
  void* destination;
};
/// Errors as the table's reduce says.
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_reduce* arguments,
                   matrix_reduce_call& out);
tsr_status run(const matrix_reduce_call& call);
/// Bytes read and written, for timing.
double bytes_moved(const matrix_reduce_call& call);

}  // namespace tessera::kit
