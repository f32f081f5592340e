#include "apps/sparse/product/sliced_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "apps/common/wide_vectors.hpp"
#include "apps/sparse/product/column_groups.hpp"
#include "apps/sparse/product/compressed_rows.hpp"
#include "apps/sparse/product/forgetting.hpp"
#include "apps/sparse/product/stored_values.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t lanes = 8;    // rows of a group
constexpr std::int64_t window = 64;  // rows that are sorted by length

/// How the rows of a panel are grouped; the rows behind the last whole group are not.
struct grouping {
  std::vector<std::uint8_t> places;  ///< of each place of each group: which row of its window
  std::vector<std::int64_t> starts;  ///< groups + 1: entries of a group's rows
  std::vector<std::int32_t> lowest;  ///< column of each window
  bool narrow = true;                ///< all windows have fewer than 65,536 columns from the lowest to the highest
};

std::int64_t length_of(const csr_matrix& a, std::int64_t row) {
  return a.row_starts[static_cast<std::size_t>(row) + 1] - a.row_starts[static_cast<std::size_t>(row)];
}

grouping group_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end) {
  grouping made;
  made.starts.push_back(0);
  for (std::int64_t first = begin; first < end; first += window) {
    const std::int64_t rows = std::min(window, end - first);
    std::uint8_t order[window];
    std::iota(order, order + rows, std::uint8_t{0});
    const auto longer = [&](std::uint8_t i, std::uint8_t j) {
      return length_of(a, first + i) > length_of(a, first + j);
    };
    if (!std::is_sorted(order, order + rows, longer)) std::stable_sort(order, order + rows, longer);
    made.places.insert(made.places.end(), order, order + rows);
    for (std::int64_t k = 0; k < rows; k += lanes)
      made.starts.push_back(made.starts.back() + length_of(a, first + order[k]));
    std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = 0;
    for (std::int64_t row = first; row < first + rows; ++row) {
      if (length_of(a, row) == 0) continue;
      low = std::min(low, a.entry_columns[static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(row)])]);
      high = std::max(high,
                      a.entry_columns[static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(row) + 1] - 1)]);
    }
    made.lowest.push_back(std::min(low, high));
    made.narrow = made.narrow && high - made.lowest.back() <= std::int64_t{std::numeric_limits<std::uint16_t>::max()};
  }
  return made;
}

/// Entries of 8 rows side by side.
template <class Column, class Value>
struct groups {
  const std::int64_t* starts;  ///< of the first group
  std::int64_t count;
  const std::uint8_t* places;
  const Column* columns;  ///< of the first group
  const Value* values;    ///< likewise
};

template <class Column, class Value>
[[gnu::always_inline]] inline void multiply_groups(groups<Column, Value> a, const double* x, double* y) {
  for (std::int64_t g = 0; g < a.count; ++g, a.places += lanes) {
    vector4 low = {}, high = {};
    for (std::int64_t n = a.starts[g + 1] - a.starts[g]; n > 0; --n, a.columns += lanes, a.values += lanes) {
      const Column* const c = a.columns;
      add_products(low, a.values, vector4{x[c[0]], x[c[1]], x[c[2]], x[c[3]]});
      add_products(high, a.values + 4, vector4{x[c[4]], x[c[5]], x[c[6]], x[c[7]]});
    }
    for (int r = 0; r < 4; ++r) y[a.places[r]] = low[r], y[a.places[r + 4]] = high[r];
  }
}

template <class Column, class Value>
class sliced_rows final : public panel_product {
 public:
  sliced_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end, grouping how, panel_memory& memory)
      : m_matrix(a), m_begin(begin), m_end(end), m_grouped_end(begin + std::ssize(how.places)), m_how(std::move(how)) {
    m_values = memory.take<Value>(size());
    m_columns = memory.take<Column>(size());
    for (std::int64_t k = 0; k < std::ssize(m_how.places); ++k) place_row(k);
  }

  void multiply(std::int64_t begin, std::int64_t end, std::int64_t width, const double* x, double* y) const override {
    if (width != 1) return multiply_rows(m_matrix, begin, end, width, x, y);
    // Whole windows, and what is in front of and behind them.
    const std::int64_t first = (begin - m_begin + window - 1) / window;
    const std::int64_t last = end >= m_grouped_end ? std::ssize(m_how.lowest) : (end - m_begin) / window;
    if (first >= last) return multiply_rows(m_matrix, begin, end, 1, x, y);
    const std::int64_t from = m_begin + first * window, to = std::min(m_begin + last * window, m_grouped_end);
    multiply_rows(m_matrix, begin, from, 1, x, y);
    multiply_windows(first, last, x, y + (from - begin));
    multiply_rows(m_matrix, to, end, 1, x, y + (to - begin));
  }
  matrix_form form() const noexcept override { return matrix_form::sell; }
  std::int64_t bytes() const noexcept override {
    const std::int64_t rest = m_matrix.row_starts[static_cast<std::size_t>(m_end)] -
                              m_matrix.row_starts[static_cast<std::size_t>(m_grouped_end)];
    return size() * std::int64_t{sizeof(Value) + sizeof(Column)} + std::ssize(m_how.places) +
           std::ssize(m_how.starts) * std::int64_t{sizeof(std::int64_t)} +
           rest * std::int64_t{sizeof(double) + sizeof(std::int32_t)};
  }
  void forget() const noexcept override {
    sparse::forget(m_values, size());
    sparse::forget(m_columns, size());
  }

 private:
  std::int64_t size() const noexcept { return m_how.starts.back() * lanes; }  // entries, with those that fill up

  /// Copies the row that stands at place `k` of all groups, and fills up to the length of the longest of its group.
  void place_row(std::int64_t k) {
    const std::int64_t g = k / lanes, w = k / window;
    const std::int64_t row = m_begin + w * window + m_how.places[static_cast<std::size_t>(k)];
    const std::int64_t base = m_how.lowest[static_cast<std::size_t>(w)];
    const std::int64_t length =
        m_how.starts[static_cast<std::size_t>(g) + 1] - m_how.starts[static_cast<std::size_t>(g)];
    auto to = static_cast<std::size_t>(m_how.starts[static_cast<std::size_t>(g)] * lanes + k % lanes);
    auto from = static_cast<std::size_t>(m_matrix.row_starts[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(m_matrix.row_starts[static_cast<std::size_t>(row) + 1]);
    Column column = 0;  // what fills up has the column of the row's last entry, or else the lowest of its window
    for (std::int64_t n = 0; n < length; ++n, ++from, to += static_cast<std::size_t>(lanes)) {
      if (from < end) column = static_cast<Column>(m_matrix.entry_columns[from] - base);
      m_columns[to] = column;
      m_values[to] = from < end ? static_cast<Value>(m_matrix.values[from]) : Value{0};
    }
  }

  void multiply_windows(std::int64_t first, std::int64_t last, const double* x, double* y) const {
    const std::int64_t count = std::ssize(m_how.starts) - 1;
    apps::with_wide_vectors([&] {
      for (std::int64_t w = first; w < last; ++w, y += window) {
        const std::int64_t group = w * (window / lanes);
        const std::int64_t* const starts = m_how.starts.data() + group;
        multiply_groups<Column, Value>(
            {starts, std::min(window / lanes, count - group), m_how.places.data() + w * window,
             m_columns + *starts * lanes, m_values + *starts * lanes},
            x + m_how.lowest.data()[w], y);
      }
    });
  }

  const csr_matrix& m_matrix;
  std::int64_t m_begin, m_end, m_grouped_end;
  grouping m_how;
  Column* m_columns;
  Value* m_values;
};

}  // namespace

std::unique_ptr<panel_product> make_sliced_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                                panel_memory& memory) {
  const std::int64_t grouped_end = begin + (end - begin) / lanes * lanes;
  grouping how = group_rows(a, begin, grouped_end);
  const std::int64_t entries =
      a.row_starts[static_cast<std::size_t>(grouped_end)] - a.row_starts[static_cast<std::size_t>(begin)];
  if (how.starts.back() * lanes * 4 > entries * 5) return nullptr;
  const auto made = [&]<class Column, class Value>(Column, Value) -> std::unique_ptr<panel_product> {
    return std::make_unique<sliced_rows<Column, Value>>(a, begin, end, std::move(how), memory);
  };
  const bool single = are_single(a, begin, grouped_end);
  if (how.narrow) return single ? made(std::uint16_t{}, float{}) : made(std::uint16_t{}, double{});
  return single ? made(std::int32_t{}, float{}) : made(std::int32_t{}, double{});
}

}  // namespace tessera::sparse
