#pragma once
// The sparse matrix that bench_device and bench_device_vendor multiply by: the Laplacian of a cube, seven points a row.
#include <cstdint>
#include <vector>

namespace bench {

struct laplacian {
  std::int64_t rows;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  explicit laplacian(std::int64_t side) : rows(side * side * side) {
    const std::int64_t steps[] = {-side * side, -side, -1, 0, 1, side, side * side};
    for (std::int64_t z = 0; z < side; ++z)
      for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = 0; x < side; ++x) {
          const bool inside[] = {z > 0, y > 0, x > 0, true, x + 1 < side, y + 1 < side, z + 1 < side};
          for (int k = 0; k < 7; ++k) {
            if (!inside[k]) continue;
            columns.push_back(static_cast<std::int32_t>((z * side + y) * side + x + steps[k]));
            values.push_back(k == 3 ? 6 : -1);
          }
          starts.push_back(static_cast<std::int64_t>(columns.size()));
        }
  }
  /// What a product by b columns moves at least: the matrix with starts of 32 bits, X and Y once each.
  double bytes(std::int64_t b) const {
    return static_cast<double>(columns.size()) * 12 + static_cast<double>(rows) * 4 +
           static_cast<double>(rows) * static_cast<double>(b) * 16;
  }
};

}  // namespace bench
