#pragma once
// The text of a region's body -> the text of a kernel in tessera-c. Pure.
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "core/block/element_type.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// What a kernel's parameter for a use depends on.
struct kernel_use {
  element_type type = element_type::none;  ///< f32, f64, i32, i64 or u8
  bool written = false;                    ///< of an array
  std::size_t tiles = 1;                   ///< of an array: blocks that the task names, at least 1
  std::size_t rank = 1;                    ///< of an array: dimensions, 1 to 3
  detail::reduction_kind reduction = detail::reduction_kind::none;  ///< not none: a reduction
  bool column_major = false;  ///< of a block of a task: its first index is fastest, and it is used with all of them
};

/// Everything that the text of a kernel depends on beside the body.
struct kernel_shape {
  std::size_t depth = 1;             ///< loops
  std::vector<kernel_use> uses{};    ///< in the order of the region
  std::vector<element_type> values;  ///< numbers behind the uses
};

/// Threads of a group of every kernel.
inline constexpr std::uint32_t kernel_threads = 256;
inline constexpr std::string_view kernel_name = "tessera_region";  ///< of every kernel

/// `body` is "(i, x, y, scale) { y[i] = scale * x[i]; }": names for the indices, the uses and the values, in this
/// order, and statements of tessera-c (docs/kernels.md). An array is used as x[position], x(row), x(row, second) or
/// x(row, second, third), as on the host; x_element is the type of its elements. Products and sums are not fused. The
/// kernel's parameters are
///   long first, long step, long count      iterations of the split loop
///   long begin, long count                 of each loop inside
///   per array: GLOBAL T*, long position    of each tile: its elements, and the position of the first one
///              long second[, long third]   if its rank is above 1: the extents of all but the slowest dimension
///   per reduction: GLOBAL T*               one element per group, in which its threads' parts are joined
///   the values.
/// A kernel without reductions has one thread per iteration; one with them goes over all with the threads that there
/// are. Throws tessera::error (usage), naming `region` and `site`, the call of with_kernel: the line and column in
/// `body`, and what was expected. Messages of compilers name the same: "main.cpp:12: text of region r:2:7: ...", where
/// 2 is a line of `body`.
/// @param kind  "region" or "task"
std::string kernel_source(std::string_view body, const kernel_shape& shape, const std::string& region,
                          std::source_location site, std::string_view kind = "region");

}  // namespace tessera::hierarchy
