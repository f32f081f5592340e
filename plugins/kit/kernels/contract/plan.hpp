#pragma once
// How a contraction is worked off: as products of matrices where its operands lie, or after some of them were copied to
// another order ("transpose, transpose, multiply, transpose"). Pure: a shape in, a plan out.
#include <cstdint>
#include <optional>

#include "plugins/kit/kernels/contract/shape.hpp"
#include "plugins/kit/kernels/packed/product.hpp"
#include "plugins/kit/kernels/permute/permute.hpp"

namespace tessera::kit {

/// What things cost on a device, in seconds; rates are those of F64 numbers.
struct contract_costs {
  double call;           ///< of one call of a product
  double item;           ///< of one product in a batch, besides its arithmetic
  double flops;          ///< operations per second of a large product
  double product_bytes;  ///< bytes per second that a product reads and writes
  double permute_call;   ///< of one permutation
  double permute_bytes;  ///< bytes per second that one in long runs reads and writes
  std::int64_t tile;     ///< rows and columns of a product are worked off in so many
  bool together;         ///< products of many blocks are worth one call, and workspace for each
  double packed = 0;  ///< of one packed product of F64 numbers, besides its arithmetic and its bytes; 0: there are none
  double packed_flops = 1;  ///< operations per second of it
  double packed_bytes = 1;  ///< bytes per second that it reads and writes; the next ones are asked for early
};

/// One loop around the products.
struct contract_loop {
  std::int64_t extent = 1;
  std::int64_t step[3] = {};  ///< bytes in A, B, C, or in their copies
  bool sums = false;          ///< over products that are added up
};

/// C = alpha A B + beta C as packed products, or in steps: copy A, copy B where they are to be copied; all products;
/// add the copy of C to C. Each operand below is the copy, where there is one, in the workspace.
struct contract_plan {
  contract_shape shape;
  std::uint64_t bytes[3] = {};  ///< of the operands, by contract_operand
  bool copied[3] = {};
  permute_plan copy[2];              ///< A, B to their copies
  permute_plan move_back, add_back;  ///< the copy of C to C: with beta == 0, and else
  std::uint64_t place[3] = {};       ///< of the copies, in bytes
  std::uint64_t workspace = 0;       ///< bytes of all copies together
  /// A product as gemm takes it. `swapped`: C^T = B^T A^T, so that B is its first matrix.
  bool swapped = false;
  bool transposed[2] = {};                              ///< the first matrix, the second
  std::int64_t m = 1, n = 1, k = 1, ld[3] = {1, 1, 1};  ///< ld: of the first, the second, C
  std::int64_t row_step[3] = {}, column_step[3] = {};   ///< of op(first), op(second), C, in elements
  contract_loop batch;                                  ///< of products that are independent and go in one call
  contract_loop loops[contract_layout::max_labels];     ///< of calls; those that sum come last, and so are the slowest
  std::uint32_t loop_count = 0;
  bool nothing_to_do = false;            ///< C is empty
  double flops = 0;                      ///< of all products
  double seconds = 0;                    ///< the estimate that decided
  std::optional<packed_product> packed;  ///< if there is one, what follows from copies and products is not used

  std::int64_t calls() const noexcept {
    std::int64_t all = 1;
    for (std::uint32_t i = 0; i < loop_count; ++i) all *= loops[i].extent;
    return all;
  }
};

/// The cheapest plan. The shape must be one that lay_out accepts.
contract_plan plan_contraction(const contract_shape& shape, const contract_layout& layout, const contract_costs& costs);

/// Copies in the workspace begin at multiples of this.
inline constexpr std::uint64_t contract_alignment = 256;

}  // namespace tessera::kit
