#pragma once
// Built-in operations on the TENSOR table: permute, contract, fill, and the reduction that ends a group of accumulates.
#include <array>
#include <complex>
#include <cstdint>

#include "core/block/combination.hpp"
#include "core/operation/definition.hpp"

namespace tessera::operation {

/// blocks: source read, destination update (write when beta is 0). Dimension d of the destination is dimension
/// permutation[d] of the source.
struct permute_arguments {
  std::complex<double> alpha = 1;                                          ///< factor of the source
  std::complex<double> beta = 0;                                           ///< factor of what is in the destination
  std::array<std::uint8_t, max_rank> permutation{0, 1, 2, 3, 4, 5, 6, 7};  ///< the first rank entries count
};
/// blocks: destination write. Any element type that the device fills.
struct fill_arguments {
  std::complex<double> value = 0;  ///< converted to the element type
  std::int64_t integer = 0;        ///< the value instead, if `is_integer`: a double does not hold all of them
  std::uint8_t is_integer = 0;     ///< 0 or 1
  std::uint8_t unused[7] = {};     ///< nothing is padding: equal arguments have equal bytes
};

/// C = alpha A B + beta C. blocks: A read, B read, C update (write when beta is 0). Each dimension of a block has a
/// label; one in A and B and not in C is summed, one in all three is a batch label, every other is in C and in one of A
/// and B.
struct contract_arguments {
  std::complex<double> alpha = 1;  ///< factor of the sums
  std::complex<double> beta = 1;   ///< factor of C
  /// Labels of A by dimension, any characters but 0: as many as the block has dimensions, 0 behind them.
  std::array<char, max_rank> a{};
  std::array<char, max_rank> b{};  ///< of B
  std::array<char, max_rank> c{};  ///< of C
};

/// Floating-point operations of a contraction of real blocks; complex ones take four times as many. Labels as in
/// contract_arguments.
double contract_flops(const std::array<char, max_rank>& labels_a, const shape& a,
                      const std::array<char, max_rank>& labels_b, const shape& b);

definition permute();
definition contract();  ///< see contract_arguments
definition fill();
/// blocks: destination update (or write: then it is zeroed first), any number of sources read.
definition reduce_add();
/// The same with a block::combination as its arguments, on the host.
definition combine();

/// Whether enqueue_zero works there: by the TENSOR extension's fill or the device table's.
bool can_zero(const plugin::device& device, element_type type);
/// Fills a whole block with zero bytes through the device's tables; used for fresh accumulators. Throws tessera::error
/// (usage) where can_zero is false.
void enqueue_zero(const plugin::device& device, tsr_stream* stream, const operand& block);
/// What a private copy begins with: the identity of a combination, of additions zero. Throws as enqueue_zero.
void enqueue_identity(const plugin::device& device, tsr_stream* stream, const operand& copy,
                      block::combination_number how);
bool can_reduce(const plugin::device& device, element_type type);

}  // namespace tessera::operation
