#include "libraries/sparse/matrix/reorder.hpp"

#include <algorithm>
#include <cstdlib>

#include "libraries/sparse/matrix/large_arrays.hpp"

namespace tessera::sparse {
namespace {

/// Breadth-first search over the rows as a graph. Its memory is used by all searches, so that one costs what it visits.
class search {
 public:
  explicit search(const csr_matrix& a) : m_matrix(a), m_visit(static_cast<std::size_t>(a.rows), 0) {}

  std::int64_t degree(std::int32_t vertex) const {
    return m_matrix.row_starts[static_cast<std::size_t>(vertex) + 1] -
           m_matrix.row_starts[static_cast<std::size_t>(vertex)];
  }

  /// Visits all that `from` is connected with, neighbours of smaller degree first; returns how far the farthest is.
  std::int64_t run(std::int32_t from) {
    ++m_number;
    m_reached.assign(1, from);
    m_visit[static_cast<std::size_t>(from)] = m_number;
    std::int64_t depth = 0;
    m_last_level = 0;
    for (std::size_t level_end = 1, k = 0; k < m_reached.size(); ++k) {
      if (k == level_end) {
        ++depth;
        m_last_level = level_end;
        level_end = m_reached.size();
      }
      visit_neighbours(m_reached[k]);
    }
    return depth;
  }
  const std::vector<std::int32_t>& reached() const noexcept { return m_reached; }  ///< by the last search, in its order
  /// Of those that are farthest the one of the smallest degree.
  std::int32_t farthest() const {
    return *std::min_element(m_reached.begin() + static_cast<std::ptrdiff_t>(m_last_level), m_reached.end(),
                             [&](std::int32_t u, std::int32_t v) { return degree(u) < degree(v); });
  }

 private:
  void visit_neighbours(std::int32_t vertex) {
    const auto begin = static_cast<std::ptrdiff_t>(m_reached.size());
    for (auto k = static_cast<std::size_t>(m_matrix.row_starts[static_cast<std::size_t>(vertex)]);
         k < static_cast<std::size_t>(m_matrix.row_starts[static_cast<std::size_t>(vertex) + 1]); ++k) {
      const std::int32_t next = m_matrix.entry_columns[k];
      if (m_visit[static_cast<std::size_t>(next)] == m_number) continue;
      m_visit[static_cast<std::size_t>(next)] = m_number;
      m_reached.push_back(next);
    }
    std::stable_sort(m_reached.begin() + begin, m_reached.end(),
                     [&](std::int32_t u, std::int32_t v) { return degree(u) < degree(v); });
  }

  const csr_matrix& m_matrix;
  std::vector<std::int64_t> m_visit;  ///< number of the last search that visited a vertex
  std::int64_t m_number = 0;
  std::vector<std::int32_t> m_reached;
  std::size_t m_last_level = 0;  ///< where the farthest begin
};

}  // namespace

csr_matrix row_order::reordered(const csr_matrix& a) const {
  std::vector<std::int32_t> new_rows(old_rows.size());
  for (std::size_t k = 0; k < old_rows.size(); ++k)
    new_rows[static_cast<std::size_t>(old_rows[k])] = static_cast<std::int32_t>(k);
  csr_matrix made{
      .name = a.name, .rows = a.rows, .columns = a.columns, .row_starts = {0}, .entry_columns = {}, .values = {}};
  made.row_starts.reserve(a.row_starts.size());
  reserve_large(made.entry_columns, a.entry_columns.size());
  reserve_large(made.values, a.values.size());
  std::vector<std::pair<std::int32_t, double>> row;
  for (const std::int32_t old : old_rows) {
    row.clear();
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(old)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(old) + 1]); ++k)
      row.emplace_back(new_rows[static_cast<std::size_t>(a.entry_columns[k])], a.values[k]);
    std::ranges::sort(row, {}, &std::pair<std::int32_t, double>::first);
    for (const auto& [column, value] : row) {
      made.entry_columns.push_back(column);
      made.values.push_back(value);
    }
    made.row_starts.push_back(made.nonzeros());
  }
  return made;
}

std::vector<double> row_order::reordered(std::span<const double> row_major) const {
  const std::size_t columns = old_rows.empty() ? 0 : row_major.size() / old_rows.size();
  std::vector<double> made(row_major.size());
  for (std::size_t k = 0; k < old_rows.size(); ++k)
    std::copy_n(row_major.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(old_rows[k]) * columns),
                columns, made.begin() + static_cast<std::ptrdiff_t>(k * columns));
  return made;
}

std::vector<double> row_order::restored(std::span<const double> row_major) const {
  const std::size_t columns = old_rows.empty() ? 0 : row_major.size() / old_rows.size();
  std::vector<double> made(row_major.size());
  for (std::size_t k = 0; k < old_rows.size(); ++k)
    std::copy_n(row_major.begin() + static_cast<std::ptrdiff_t>(k * columns), columns,
                made.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(old_rows[k]) * columns));
  return made;
}

row_order reverse_cuthill_mckee(const csr_matrix& a) {
  row_order made;
  made.old_rows.reserve(static_cast<std::size_t>(a.rows));
  std::vector<bool> numbered(static_cast<std::size_t>(a.rows), false);
  search from(a);
  for (std::int32_t seed = 0; seed < a.rows; ++seed) {
    if (numbered[static_cast<std::size_t>(seed)]) continue;
    // A vertex at the edge: go to a farthest one as long as that makes the search deeper.
    std::int32_t start = seed;
    for (std::int64_t depth = from.run(start);;) {
      const std::int32_t other = from.farthest();
      const std::int64_t deeper = from.run(other);
      start = other;
      if (deeper <= depth) break;
      depth = deeper;
    }
    for (const std::int32_t vertex : from.reached()) numbered[static_cast<std::size_t>(vertex)] = true;
    made.old_rows.insert(made.old_rows.end(), from.reached().begin(), from.reached().end());
  }
  std::ranges::reverse(made.old_rows);
  return made;
}

std::int64_t bandwidth(const csr_matrix& a) {
  std::int64_t widest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      widest = std::max(widest, std::abs(a.entry_columns[k] - i));
  return widest;
}

}  // namespace tessera::sparse
