#include "apps/sparse/matrix/row_panels.hpp"

#include <algorithm>

namespace tessera::sparse {

std::int64_t row_panels::of_row(std::int64_t row) const {
  return std::upper_bound(ends.begin(), ends.end(), row) - ends.begin();
}

row_panels balanced_panels(const csr_matrix& a, std::int64_t rows_per_panel, std::int64_t row_weight) {
  const std::int64_t wanted = a.rows > 0 ? 1 + (a.rows - 1) / rows_per_panel : 1;
  const auto weight_before = [&](std::int64_t row) {
    return a.row_starts[static_cast<std::size_t>(row)] + row * row_weight;
  };
  const double share = static_cast<double>(weight_before(a.rows)) / static_cast<double>(wanted);
  row_panels made;
  // Panels of as many rows each, if none of them is much heavier: then the parts of a vector have one size, and each
  // fits where another was.
  for (std::int64_t begin = 0, end = 0; begin < a.rows; begin = end) {
    end = std::min(begin + rows_per_panel, a.rows);
    if (static_cast<double>(weight_before(end) - weight_before(begin)) > 1.25 * share) break;
    made.ends.push_back(end);
  }
  if (!made.ends.empty() && made.ends.back() == a.rows) return made;
  made.ends.clear();
  std::int64_t row = 0;
  for (std::int64_t k = 1; k <= wanted && row < a.rows; ++k) {
    const auto target = static_cast<std::int64_t>(share * static_cast<double>(k));
    std::int64_t low = row + 1, high = a.rows;  // the first end whose panel reaches the target
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (weight_before(middle) < target)
        low = middle + 1;
      else
        high = middle;
    }
    const bool before_is_nearer = low > row + 1 && target - weight_before(low - 1) < weight_before(low) - target;
    row = k == wanted ? a.rows : low - static_cast<std::int64_t>(before_is_nearer);
    made.ends.push_back(row);
  }
  return made;
}

std::vector<std::vector<std::int32_t>> touched_panels(const csr_matrix& a, const row_panels& panels) {
  std::vector<std::vector<std::int32_t>> touched(static_cast<std::size_t>(panels.count()));
  std::vector<std::int64_t> seen(touched.size(), -1);  // the last panel of rows that touched it
  for (std::int64_t p = 0; p < panels.count(); ++p) {
    auto& list = touched[static_cast<std::size_t>(p)];
    for (std::int64_t row = panels.begin(p); row < panels.end(p); ++row) {
      std::int64_t at = -1;  // columns ascend: search again only past the panel's end
      for (std::int64_t k = a.row_starts[static_cast<std::size_t>(row)];
           k < a.row_starts[static_cast<std::size_t>(row) + 1]; ++k) {
        const std::int64_t column = a.entry_columns[static_cast<std::size_t>(k)];
        if (at >= 0 && column < panels.end(at)) continue;
        at = panels.of_row(column);
        if (seen[static_cast<std::size_t>(at)] == p) continue;
        seen[static_cast<std::size_t>(at)] = p;
        list.push_back(static_cast<std::int32_t>(at));
      }
    }
    std::ranges::sort(list);
  }
  return touched;
}

}  // namespace tessera::sparse
