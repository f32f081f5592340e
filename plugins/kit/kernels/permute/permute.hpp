#pragma once
// Permutation of the dimensions of a dense tensor: destination = alpha * permuted source + beta * destination.
#include <tessera/plugin.h>

#include <cstdint>
#include <vector>

#include "plugins/kit/abi/operand.hpp"

namespace tessera::kit {

/// A permutation reduced to its essence: dimensions of extent 1 are gone, dimensions that stay neighbours are fused,
/// and rows that fit a machine word are elements. Dimensions are in the destination's order; strides count elements.
struct permute_plan {
  std::uint32_t rank = 0;
  std::uint32_t element_bytes = 0;
  std::int64_t elements = 1;
  std::int64_t extents[TSR_MAX_RANK] = {};
  std::int64_t source_strides[TSR_MAX_RANK] = {};
  std::int64_t destination_strides[TSR_MAX_RANK] = {};
  std::uint8_t walk[TSR_MAX_RANK] = {};  ///< the dimensions as the host's loops go through them, the innermost first
};

/// Whose memory the loops go through in order. What is read and is not in the cache comes sooner in its own order,
/// since the processor sees what comes next; a destination that was written before, as a workspace, is in the cache in
/// any order.
enum class permute_walk : std::uint8_t {
  source,
  destination
};

/// `extents` are the source's; dimension d of the destination is dimension permutation[d] of the source, which must be
/// a permutation. `pure_move`: alpha is 1 and beta 0, so that the element type does not matter.
permute_plan plan_permute(tsr_type type, std::uint32_t rank, const std::int64_t* extents,
                          const std::uint32_t* permutation, bool pure_move, permute_walk along = permute_walk::source);

/// Runs a plan. alpha and beta point to one element each, or are both null for a pure move.
void run_permute(const permute_plan& plan, tsr_type type, const void* alpha, const void* beta, const void* source,
                 void* destination) noexcept;

/// Whether the kernels compiled for AVX2 are in use (chosen by the processor).
bool permute_uses_avx2() noexcept;

}  // namespace tessera::kit
