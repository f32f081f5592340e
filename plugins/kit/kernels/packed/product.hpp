#pragma once
// Products of small matrices whose rows and columns lie anywhere, as those of permuted tensors do. Both are packed into
// panels, whatever their order, and tiles of C are summed in registers: no operand is brought into another order first.
// (Springer and Bientinesi, ACM TOMS 44, 2018; Matthews, SIAM J. Sci. Comput. 40, 2018.)
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plugins/kit/kernels/contract/shape.hpp"
#include "plugins/kit/kernels/packed/kernels.hpp"

namespace tessera::kit {

/// Those for this processor; null where there are none.
const packed_kernels* packed_kernels_here() noexcept;

/// One side of a product: element (lane, p) of a matrix is lanes[lane] + sums[p] elements behind its first one.
struct packed_side {
  std::vector<std::int32_t> lanes, sums;
  std::vector<quad_kind> quads;       ///< of four lanes each
  std::vector<packed_run> runs;       ///< all terms
  std::int64_t width = 0, least = 0;  ///< of panels, as lanes_of_panel takes them
  std::int64_t all_lanes = 0;         ///< those that are not there included
  std::uint64_t bytes = 0;            ///< of all panels
};

/// The first matrix has the rows of C, the second one the columns.
struct packed_product {
  const packed_kernels* kernels = nullptr;
  bool swapped = false;  ///< B is the first one
  std::int64_t m = 0, n = 0, k = 0;
  packed_side first, second;
  std::vector<std::int32_t> rows, columns;         ///< of C
  std::vector<quad_kind> quads;                    ///< of four rows each
  std::vector<std::array<std::int64_t, 3>> batch;  ///< where each product begins, in elements, by contract_operand
  std::uint64_t workspace_bytes() const noexcept;  ///< of the panels of one product, the second behind the first
  std::uint64_t place_of_second() const noexcept;  ///< in the workspace, in bytes
  /// Terms that are added, those of lanes that are not there included.
  double terms() const noexcept;
};

/// A contraction of F64 as packed products; nothing where matrices are too large to stay in the second cache, so small
/// that packing does not pay, or vectors, and where the processor has no such kernels.
std::optional<packed_product> plan_packed(const contract_axes& axes,
                                          const packed_kernels* kernels = packed_kernels_here());

/// All products of the batch. a, b, c: the operands as they lie. `expected`: A and B that the next call may have; they
/// are asked for meanwhile. Null: none is known.
void run_packed(const packed_product& product, double alpha, const double* a, const double* b, double beta, double* c,
                void* workspace, const std::array<const void*, 2>& expected) noexcept;

}  // namespace tessera::kit
