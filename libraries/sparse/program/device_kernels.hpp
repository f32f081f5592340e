#pragma once
// The kernels of devices, in tessera-c (docs/kernels.md).
#include <cstddef>
#include <functional>
#include <string>

#include "tessera/operation.hpp"

namespace tessera::sparse {

namespace op = tessera::operation;  // an operation of a program is something else

/// The kernels of a panel's steps, by their places among step_kernel_names(). A thread makes one number.
enum class step_kernel : std::size_t {
  multiply,           ///< rows of alpha A X + beta Y from at most max_pieces pieces of X
  products,           ///< X^T Y, or products of columns, of at most max_products pairs, slice by slice of the rows
  sum_slices,         ///< the sums of some slices each
  combine,            ///< Y = [X1 X2 ...] C from at most max_factors blocks
  add_scaled,         ///< Y += X diag(alpha)
  add_multiple,       ///< Y += factor X
  add_to_multiple,    ///< Y = X + factor Y, from an element of Y on
  multiply_elements,  ///< Z = X Y
  scale,              ///< Y = X diag(alpha)
  scale_rows,         ///< Y = alpha diag(d) X + beta Y
  copy,               ///< Y = X, from an element of Y on
  axpby,              ///< Y = alpha X + beta Y
  combine_rows        ///< [Y1 ...] = [X1 X2 ...] C, all of one width, row by row: with one Y; behind it those with more
};

inline constexpr std::size_t max_pieces = 16;        ///< of the source of a product, in one launch
inline constexpr std::size_t max_factors = 8;        ///< of a combination, in one launch
inline constexpr std::size_t max_summed = 16;        ///< partial sums that one task adds up
inline constexpr std::size_t max_products = 8;       ///< of block vectors, in one launch
inline constexpr std::size_t max_finished = 8;       ///< small matrices that one launch makes of sums
inline constexpr std::int64_t slice_rows = 128;      ///< rows whose products one thread adds up
inline constexpr std::int64_t slices_together = 32;  ///< whose sums one thread adds up

/// Block vectors that combine_rows makes in one launch, where all have so many columns; 0 for wide ones.
std::size_t max_destinations(std::int64_t width) noexcept;
/// In the order of step_kernel. @param width  columns of most block vectors: what they are compiled for
std::vector<std::string> step_kernel_names(std::int64_t width);
op::kernel_text steps_text(std::int64_t width);  ///< of those
op::kernel_text sums_text();                     ///< of sparse_add_parts and sparse_finish

/// The runtime's operation of this name. `fill` says what it is when it is made, for devices that have fp64.
const op::definition& found_or_defined(runtime& rt, const std::string& name,
                                       const std::function<void(op::definition&)>& fill);

}  // namespace tessera::sparse
