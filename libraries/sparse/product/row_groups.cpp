#include "libraries/sparse/product/row_groups.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace tessera::sparse {
namespace {

std::int64_t row_start(const csr_matrix& a, std::int64_t row) { return a.row_starts[static_cast<std::size_t>(row)]; }
std::int64_t length_of(const csr_matrix& a, std::int64_t row) { return row_start(a, row + 1) - row_start(a, row); }

/// Sets window.lowest; returns how far the highest column is from it.
std::int64_t reach(const csr_matrix& a, std::int64_t begin, std::int64_t end, row_window& window) {
  std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = 0;
  for (std::int64_t row = begin; row < end; ++row) {
    if (length_of(a, row) == 0) continue;
    low = std::min(low, a.entry_columns[static_cast<std::size_t>(row_start(a, row))]);
    high = std::max(high, a.entry_columns[static_cast<std::size_t>(row_start(a, row + 1)) - 1]);
  }
  window.lowest = std::min(low, high);
  return high - window.lowest;
}

/// A group of the rows first + places[0..7], the longest in front.
row_group group_of(const csr_matrix& a, std::int64_t first, const std::uint8_t* places) {
  constexpr int last = row_group::rows - 1;
  const auto length = length_of(a, first + places[0]);
  const bool alike = length_of(a, first + places[last]) == length;
  row_group made{static_cast<std::int32_t>(length), alike && places[last] == places[0] + last, alike};
  for (int r = 1; r <= last && (made.neighbours || made.equal); ++r) {
    auto one = static_cast<std::size_t>(row_start(a, first + places[0]));
    auto other = static_cast<std::size_t>(row_start(a, first + places[r]));
    for (std::int64_t n = 0; n < length; ++n, ++one, ++other) {
      made.neighbours = made.neighbours && a.entry_columns[other] == a.entry_columns[one] + r;
      made.equal =
          made.equal && std::bit_cast<std::uint64_t>(a.values[other]) == std::bit_cast<std::uint64_t>(a.values[one]);
    }
  }
  return made;
}

}  // namespace

row_groups group_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end) {
  row_groups made;
  for (std::int64_t first = begin; first < end; first += row_window::rows) {
    const std::int64_t rows = std::min(row_window::rows, end - first);
    std::uint8_t order[row_window::rows];
    std::iota(order, order + rows, std::uint8_t{0});
    const auto longer = [&](std::uint8_t i, std::uint8_t j) {
      return length_of(a, first + i) > length_of(a, first + j);
    };
    if (!std::is_sorted(order, order + rows, longer)) std::stable_sort(order, order + rows, longer);
    made.places.insert(made.places.end(), order, order + rows);
    row_window window{made.columns, made.values, 0};
    if (reach(a, first, first + rows, window) > std::int64_t{std::numeric_limits<std::uint16_t>::max()})
      made.narrow = false;
    made.windows.push_back(window);
    for (std::int64_t k = 0; k < rows; k += row_group::rows) {
      const row_group group = group_of(a, first, order + k);
      made.groups.push_back(group);
      made.entries += row_group::rows * group.length;
      made.columns += group.columns();
      made.values += group.values();
    }
  }
  return made;
}

}  // namespace tessera::sparse
