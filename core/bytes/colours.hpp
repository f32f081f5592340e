#pragma once
// Where large pieces of memory begin.
#include <cstdint>

namespace tessera {

/// How far behind a boundary of a huge page the n-th large piece of memory begins: arrays of a power of two then do not
/// lie whole powers of two apart, where a loop over several of them asks the same bank of the memory and the same set
/// of a cache for all. Whole pages, since steps of lines changed nothing; 33 of 4 KiB, so that neighbours differ in the
/// bits that choose a set of the second cache, and in those above. The n-th begins at the same place in each run. The
/// bytes in front are below 1 MiB.
inline constexpr std::uint64_t colours = 8, colour_step = std::uint64_t{33} << 12;
inline constexpr std::uint64_t colour_boundary = std::uint64_t{2} << 20;  ///< what a colour is counted from
constexpr std::uint64_t colour_of(std::uint64_t n) noexcept { return n % colours * colour_step; }

}  // namespace tessera
