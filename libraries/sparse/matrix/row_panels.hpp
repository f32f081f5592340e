#pragma once
// Rows in panels: the units of work, of dependencies and of reductions.
#include <cstdint>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// Rows [0, n) cut into panels, none of them empty.
struct row_panels {
  std::vector<std::int64_t> ends;                                                         ///< ascending; the last is n
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(ends.size()); }  ///< panels
  /// First row of a panel.
  std::int64_t begin(std::int64_t panel) const noexcept {
    return panel == 0 ? 0 : ends[static_cast<std::size_t>(panel - 1)];
  }
  std::int64_t end(std::int64_t panel) const noexcept { return ends[static_cast<std::size_t>(panel)]; }  ///< past it
  std::int64_t of_row(std::int64_t row) const;  ///< the panel that has it
};

/// Panels of about `rows_per_panel` rows, which weigh the same when a row weighs as its nonzeros and `row_weight` more:
/// of exactly so many rows, where none of those is heavier than the average by more than a quarter. A row is never cut.
/// The result depends on the arguments alone.
row_panels balanced_panels(const csr_matrix& a, std::int64_t rows_per_panel, std::int64_t row_weight);

/// Panels of so many rows each, the last one perhaps of fewer.
row_panels equal_panels(std::int64_t rows, std::int64_t rows_per_panel);

/// For each panel of rows the panels of columns in which it has entries, ascending.
std::vector<std::vector<std::int32_t>> touched_panels(const csr_matrix& a, const row_panels& panels);

}  // namespace tessera::sparse
