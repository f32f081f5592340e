#pragma once
// Built-in operations on the TENSOR table: permute, fill, and the reduction that ends a group of accumulates.
#include <array>
#include <complex>
#include <cstdint>

#include "core/operation/definition.hpp"

namespace tessera::operation {

/// blocks: source read, destination update (write when beta is 0). Dimension d of the destination is dimension
/// permutation[d] of the source.
struct permute_arguments {
  std::complex<double> alpha = 1;  ///< factor of the source
  std::complex<double> beta = 0;   ///< factor of what is in the destination
  std::array<std::uint8_t, max_rank> permutation{0, 1, 2, 3, 4, 5, 6, 7};  ///< the first rank entries count
};
/// blocks: destination write. Any element type that the device fills.
struct fill_arguments {
  std::complex<double> value = 0;  ///< converted to the element type
};

definition permute();
definition fill();
/// blocks: destination update (or write: then it is zeroed first), any number of sources read.
definition reduce_add();

/// Fills a whole block with zero bytes through the device's tables; used for fresh accumulators.
void enqueue_zero(const plugin::device& device, tsr_stream* stream, const operand& block);
bool can_reduce(const plugin::device& device, element_type type);

}  // namespace tessera::operation
