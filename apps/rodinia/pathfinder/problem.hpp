#pragma once
// The cheapest path through a grid of digits, from the first row to the last: input and reference.
#include <cstdint>
#include <vector>

namespace tessera::apps::rodinia {

/// The digits of a row of the synthetic grid. @param to  so many columns
template <class T>
void make_pathfinder_row(std::uint64_t seed, std::int64_t row, T* to, std::int64_t columns);

/// The costs of reaching each cell of the last row, row after row.
std::vector<std::int32_t> pathfinder_serial(std::uint64_t seed, std::int64_t rows, std::int64_t columns);

}  // namespace tessera::apps::rodinia
