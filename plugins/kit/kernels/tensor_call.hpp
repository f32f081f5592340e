#pragma once
// Tensor calls on host pointers: checked when they are enqueued, run later. The pattern of blas_call.hpp.
#include <tessera/plugin.h>

#include <cstdint>
#include <vector>

#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/report.hpp"
#include "plugins/kit/kernels/permute/permute.hpp"

namespace tessera::kit {

/// PERMUTE, REDUCE_ADD and REDUCE: F32, F64, C64, C128, I32, I64. CONTRACT: the first four. FILL: all six, and U8, F16,
/// BF16.
bool tensor_supports(tsr_tensor_operation operation, tsr_type type) noexcept;

struct permute_call {
  permute_plan plan;
  tsr_type type;
  bool pure_move;
  scalar alpha, beta;
  void *source, *destination;
};
/// Fails: INVALID_ARGUMENT (rank above 8, a negative extent, no permutation, overlapping operands), UNIMPLEMENTED
/// (type), OUT_OF_RANGE.
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_permute* arguments, permute_call& out);
tsr_status run(const permute_call& call);
/// Bytes read and written, for timing.
double bytes_moved(const permute_call& call);

struct reduce_call {
  tsr_type type;
  std::int64_t count;
  void* destination;
  std::vector<void*> sources;
};
tsr_status prepare(const reporter& report, operand_resolver& operands, tsr_type type, std::int64_t count,
                   const tsr_address& destination, const tsr_address* sources, std::uint32_t source_count,
                   reduce_call& out);
tsr_status run(const reduce_call& call);
double bytes_moved(const reduce_call& call);

struct fill_call {
  tsr_type type;
  std::int64_t count;
  scalar value;
  void* destination;
};
tsr_status prepare(const reporter& report, operand_resolver& operands, tsr_type type, std::int64_t count,
                   const tsr_address& destination, const void* value, fill_call& out);
tsr_status run(const fill_call& call);
double bytes_moved(const fill_call& call);

}  // namespace tessera::kit
