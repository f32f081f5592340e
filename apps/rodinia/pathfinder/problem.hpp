#pragma once
// The cheapest path through a grid of digits, from the first row to the last: input and reference.
#include <cstdint>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

/// The digits of a row of the synthetic grid. @param to  so many columns
template <class T>
void make_pathfinder_row(std::uint64_t seed, std::int64_t row, T* to, std::int64_t columns);

/// The costs of reaching each cell of the last row, row after row.
std::vector<std::int32_t> pathfinder_serial(std::uint64_t seed, std::int64_t rows, std::int64_t columns);

/// A launch per row but the first: it reads a row of the grid and one of costs, and writes one of costs. Integers
/// alone.
/// @param element  bytes of a digit
workload pathfinder_workload(std::int64_t rows, std::int64_t columns, std::size_t element);

}  // namespace tessera::apps::rodinia
