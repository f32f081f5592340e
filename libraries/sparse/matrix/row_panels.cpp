#include "libraries/sparse/matrix/row_panels.hpp"

#include <algorithm>
#include <utility>

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

row_panels equal_panels(std::int64_t rows, std::int64_t rows_per_panel) {
  row_panels made;
  for (std::int64_t begin = 0; begin < rows; begin = made.ends.back())
    made.ends.push_back(std::min(begin + rows_per_panel, rows));
  return made;
}

namespace {

/// Panels of rows, found without a search: a table has the panel of each so many rows' first.
class panel_table {
 public:
  explicit panel_table(const row_panels& panels) : m_panels(panels) {
    const std::int64_t rows = panels.ends.back();
    while ((rows >> m_shift) > 8 * panels.count()) ++m_shift;
    std::int32_t panel = 0;
    for (std::int64_t row = 0; row < rows; row += std::int64_t{1} << m_shift) {
      while (panels.end(panel) <= row) ++panel;
      m_first.push_back(panel);
    }
    m_first.push_back(static_cast<std::int32_t>(panels.count() - 1));
  }
  std::int32_t of_row(std::int64_t row) const {
    const auto part = static_cast<std::size_t>(row >> m_shift);
    if (m_first[part] == m_first[part + 1]) return m_first[part];
    const auto begin = m_panels.ends.begin();
    return static_cast<std::int32_t>(std::upper_bound(begin + m_first[part], begin + m_first[part + 1], row) - begin);
  }

 private:
  const row_panels& m_panels;
  int m_shift = 0;
  std::vector<std::int32_t> m_first;
};

/// Which panels are marked, and which of those behind a panel is the first that is not.
class panel_marks {
 public:
  explicit panel_marks(std::int64_t panels)
      : m_round(static_cast<std::size_t>(panels), -1), m_next(static_cast<std::size_t>(panels)) {}
  void mark(std::int32_t panel, std::int64_t round) {
    m_round[static_cast<std::size_t>(panel)] = round;
    m_next[static_cast<std::size_t>(panel)] = panel + 1;
  }
  /// The panel itself, or the first behind it that is not marked in this round.
  std::int32_t first_unmarked(std::int32_t panel, std::int64_t round) {
    std::int32_t found = panel;
    while (found < std::ssize(m_round) && m_round[static_cast<std::size_t>(found)] == round)
      found = m_next[static_cast<std::size_t>(found)];
    while (panel < found) panel = std::exchange(m_next[static_cast<std::size_t>(panel)], found);
    return found;
  }

 private:
  std::vector<std::int64_t> m_round;  // in which it was marked last
  std::vector<std::int32_t> m_next;   // of a marked one: none between is unmarked
};

}  // namespace

std::vector<std::vector<std::int32_t>> touched_panels(const csr_matrix& a, const row_panels& panels) {
  std::vector<std::vector<std::int32_t>> touched(static_cast<std::size_t>(panels.count()));
  const panel_table table(panels);
  panel_marks marks(panels.count());
  for (std::int64_t p = 0; p < panels.count(); ++p) {
    auto& list = touched[static_cast<std::size_t>(p)];
    for (std::int64_t row = panels.begin(p); row < panels.end(p) && std::ssize(list) < panels.count(); ++row) {
      // Columns ascend, so that all of them which lie in panels that are known to be touched are left out at a time.
      const std::int32_t* column = a.entry_columns.data() + a.row_starts[static_cast<std::size_t>(row)];
      const std::int32_t* const end = a.entry_columns.data() + a.row_starts[static_cast<std::size_t>(row) + 1];
      while (column < end) {
        const std::int32_t at = table.of_row(*column), unknown = marks.first_unmarked(at, p);
        if (unknown == at) {
          marks.mark(at, p);
          list.push_back(at);
        } else if (unknown == panels.count() || end[-1] < panels.begin(unknown)) {
          break;
        } else {
          column = std::lower_bound(column, end, panels.begin(unknown));
        }
      }
    }
    std::ranges::sort(list);
  }
  return touched;
}

}  // namespace tessera::sparse
