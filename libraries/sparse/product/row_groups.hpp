#pragma once
// Rows of a matrix in groups of eight, an entry of each beside the other: what SELL-8-64 stores, and what it need not.
#include <cstdint>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// Eight rows. Those that are shorter than the longest are filled up.
struct row_group {
  static constexpr std::int64_t rows = 8;
  std::int32_t length;  ///< entries of the longest row
  bool neighbours;      ///< rows that follow each other, and so do the columns of each entry: the first one is stored
  bool equal;           ///< of each entry the rows have one value, down to its sign: it is stored once
  std::int64_t columns() const noexcept { return neighbours ? length : rows * length; }  ///< that are stored
  std::int64_t values() const noexcept { return equal ? length : rows * length; }
};

/// Rows among which those of similar length are grouped.
struct row_window {
  static constexpr std::int64_t rows = 64;
  std::int64_t columns, values;  ///< where those of its groups begin
  std::int32_t lowest;           ///< column; stored columns count from it
};

/// How rows are grouped.
struct row_groups {
  std::vector<std::uint8_t> places;  ///< of each place of each group: which row of its window
  std::vector<row_group> groups;
  std::vector<row_window> windows;
  std::int64_t entries = 0;              ///< with those that fill up
  std::int64_t columns = 0, values = 0;  ///< that are stored
  bool narrow = true;                    ///< windows have fewer than 65,536 columns from the lowest to the highest
};

/// Groups rows [begin, end), a multiple of eight rows.
row_groups group_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end);

}  // namespace tessera::sparse
