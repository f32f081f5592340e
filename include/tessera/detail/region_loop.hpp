#pragma once
// The iterations of a region.
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// One loop: index = begin, begin + step, ... while before end (step > 0) or after it (step < 0).
struct loop_bounds {
  std::int64_t begin = 0;  ///< the first index
  std::int64_t end = 0;    ///< not reached
  std::int64_t step = 1;   ///< not 0
};

/// The iterations of a region: a loop over rows, which is split, around up to two more. Plain data.
/// @tparam Depth  loops, 1 to 3
template <std::size_t Depth>
struct iteration_space {
  loop_bounds rows;                            ///< split over the leaves
  std::array<loop_bounds, Depth - 1> inner{};  ///< steps of 1; the last one is innermost
};

/// A loop over [begin, end) in steps of `step`, which may be negative.
constexpr iteration_space<1> iterate(std::int64_t begin, std::int64_t end, std::int64_t step = 1) noexcept {
  return {{begin, end, step}, {}};
}
/// Two loops, [begin, end) each; the first is split.
constexpr iteration_space<2> iterate(std::array<std::int64_t, 2> rows, std::array<std::int64_t, 2> second) noexcept {
  return {{rows[0], rows[1], 1}, {loop_bounds{second[0], second[1], 1}}};
}
/// Three loops, [begin, end) each; the first is split.
constexpr iteration_space<3> iterate(std::array<std::int64_t, 2> rows, std::array<std::int64_t, 2> second,
                                     std::array<std::int64_t, 2> third) noexcept {
  return {{rows[0], rows[1], 1}, {loop_bounds{second[0], second[1], 1}, loop_bounds{third[0], third[1], 1}}};
}

}  // namespace tessera
