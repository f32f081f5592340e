#include "libraries/sparse/matrix/single_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

/// The rounded value of the entry (row, column), which is there.
double rounded_entry(const csr_matrix& a, std::int32_t row, std::int32_t column) {
  const auto begin = a.entry_columns.begin() + a.row_starts[static_cast<std::size_t>(row)];
  const auto end = a.entry_columns.begin() + a.row_starts[static_cast<std::size_t>(row) + 1];
  const auto at = std::lower_bound(begin, end, column);
  if (at == end || *at != column) return 0;  // the mirror image of a zero that is stored
  const double value = a.values[static_cast<std::size_t>(at - a.entry_columns.begin())];
  if (std::abs(value) > std::numeric_limits<float>::max())
    throw error(error_kind::input,
                fmt::format("entry ({}, {}) is {:.17g}, and numbers of single precision end at {:.3g}", row + 1,
                            column + 1, value, std::numeric_limits<float>::max()),
                a.name, "keep double precision, or scale the matrix");
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace

single_matrix rounded_to_single(csr_matrix a) {
  std::vector<double> rounded(a.values.size());
  double change = 0;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double of_row = 0;
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k) {
      const std::int32_t j = a.entry_columns[k];
      rounded[k] = rounded_entry(a, std::min(i, j), std::max(i, j));
      of_row += std::abs(a.values[k] - rounded[k]);
    }
    change = std::max(change, of_row);
  }
  a.values = std::move(rounded);
  return {std::move(a), change};
}

}  // namespace tessera::sparse
