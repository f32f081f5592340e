#include "apps/rodinia/pathfinder/problem.hpp"

#include <algorithm>

#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {

template <class T>
void make_pathfinder_row(std::uint64_t seed, std::int64_t row, T* to, std::int64_t columns) {
  random_stream from(seed, static_cast<std::uint64_t>(row * columns));
  for (std::int64_t j = 0; j < columns; ++j) to[j] = static_cast<T>(from.digit());
}
template void make_pathfinder_row(std::uint64_t, std::int64_t, std::int32_t*, std::int64_t);
template void make_pathfinder_row(std::uint64_t, std::int64_t, std::uint8_t*, std::int64_t);

std::vector<std::int32_t> pathfinder_serial(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  std::vector<std::int32_t> digits(width), cost(width), next(width);
  make_pathfinder_row(seed, 0, cost.data(), columns);
  for (std::int64_t t = 1; t < rows; ++t) {
    make_pathfinder_row(seed, t, digits.data(), columns);
    for (std::size_t j = 0; j < width; ++j) {
      std::int32_t best = cost[j];
      if (j > 0) best = std::min(best, cost[j - 1]);
      if (j + 1 < width) best = std::min(best, cost[j + 1]);
      next[j] = digits[j] + best;
    }
    cost.swap(next);
  }
  return cost;
}

workload pathfinder_workload(std::int64_t rows, std::int64_t columns, std::size_t element) {
  const auto launches = static_cast<double>(rows - 1), width = static_cast<double>(columns);
  const double costs = 2 * sizeof(std::int32_t) * width, row = static_cast<double>(element) * width;
  return {costs + launches * row, {{"row", launches * (costs + row), 0, 0}}};
}

}  // namespace tessera::apps::rodinia
