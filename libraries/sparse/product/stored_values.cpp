#include "libraries/sparse/product/stored_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::sparse {

bool are_single(const csr_matrix& a, std::int64_t begin, std::int64_t end) {
  const auto value_of_row = [&](std::int64_t row) {
    return a.values.begin() + a.row_starts[static_cast<std::size_t>(row)];
  };
  return std::all_of(value_of_row(begin), value_of_row(end), [](double v) {
    return std::abs(v) <= std::numeric_limits<float>::max() && static_cast<double>(static_cast<float>(v)) == v;
  });
}

}  // namespace tessera::sparse
