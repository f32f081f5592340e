#include "libraries/sparse/product/sliced_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/base/wide_vectors.hpp"
#include "libraries/sparse/product/column_groups.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/product/forgetting.hpp"
#include "libraries/sparse/product/row_groups.hpp"
#include "libraries/sparse/product/stored_values.hpp"

namespace tessera::sparse {
namespace {

/// Where the next group of rows lies in memory.
template <class Column, class Value>
struct group_data {
  const Column* columns;
  const Value* values;
};

/// Sums of the rows of a group, four in each vector. Behind it the next group begins.
template <bool Neighbours, bool Equal, class Column, class Value>
[[gnu::always_inline]] inline void multiply_group(std::int32_t length, group_data<Column, Value>& a, const double* x,
                                                  vector4& low, vector4& high) {
  constexpr int columns = Neighbours ? 1 : row_group::rows, values = Equal ? 1 : row_group::rows;
  for (std::int32_t n = 0; n < length; ++n, a.columns += columns, a.values += values) {
    const Column* const c = a.columns;
    vector4 x_low, x_high;
    if constexpr (Neighbours) {
      x_low = vector_at<4>(x + c[0]), x_high = vector_at<4>(x + c[0] + 4);
    } else {
      x_low = vector4{x[c[0]], x[c[1]], x[c[2]], x[c[3]]}, x_high = vector4{x[c[4]], x[c[5]], x[c[6]], x[c[7]]};
    }
    if constexpr (Equal) {
      const auto value = static_cast<double>(*a.values);
      low += value * x_low, high += value * x_high;
    } else {
      add_products(low, a.values, x_low), add_products(high, a.values + 4, x_high);
    }
  }
}

/// A window: its groups, the rows that they have, and the first of these rows of y.
template <class Column, class Value>
[[gnu::always_inline]] inline void multiply_window(const row_group* group, const row_group* end,
                                                   const std::uint8_t* places, group_data<Column, Value> a,
                                                   const double* x, double* y) {
  for (; group != end; ++group, places += row_group::rows) {
    vector4 low = {}, high = {};
    if (group->neighbours) {
      if (group->equal)
        multiply_group<true, true>(group->length, a, x, low, high);
      else
        multiply_group<true, false>(group->length, a, x, low, high);
      vector_at<4>(y + places[0]) = low, vector_at<4>(y + places[0] + 4) = high;
      continue;
    }
    if (group->equal)
      multiply_group<false, true>(group->length, a, x, low, high);
    else
      multiply_group<false, false>(group->length, a, x, low, high);
    for (int r = 0; r < 4; ++r) y[places[r]] = low[r], y[places[r + 4]] = high[r];
  }
}

template <class Column, class Value>
class sliced_rows final : public panel_product {
 public:
  sliced_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end, row_groups how, panel_memory& memory)
      : m_matrix(a), m_begin(begin), m_end(end), m_grouped_end(begin + std::ssize(how.places)), m_how(std::move(how)) {
    m_values = memory.take<Value>(m_how.values);
    m_columns = memory.take<Column>(m_how.columns);
    for (std::size_t w = 0; w < m_how.windows.size(); ++w) place_window(w);
  }

  void multiply(std::int64_t begin, std::int64_t end, std::int64_t width, const double* x, double* y) const override {
    if (width != 1) return multiply_rows(m_matrix, begin, end, width, x, y);
    // Whole windows, and what is in front of and behind them.
    const std::int64_t first = (begin - m_begin + row_window::rows - 1) / row_window::rows;
    const std::int64_t last = end >= m_grouped_end ? std::ssize(m_how.windows) : (end - m_begin) / row_window::rows;
    if (first >= last) return multiply_rows(m_matrix, begin, end, 1, x, y);
    const std::int64_t from = m_begin + first * row_window::rows,
                       to = std::min(m_begin + last * row_window::rows, m_grouped_end);
    multiply_rows(m_matrix, begin, from, 1, x, y);
    multiply_windows(first, last, x, y + (from - begin));
    multiply_rows(m_matrix, to, end, 1, x, y + (to - begin));
  }
  matrix_form form() const noexcept override { return matrix_form::sell; }
  std::int64_t bytes() const noexcept override {
    const std::int64_t rest = m_matrix.row_starts[static_cast<std::size_t>(m_end)] -
                              m_matrix.row_starts[static_cast<std::size_t>(m_grouped_end)];
    return m_how.values * std::int64_t{sizeof(Value)} + m_how.columns * std::int64_t{sizeof(Column)} +
           std::ssize(m_how.places) + std::ssize(m_how.groups) * std::int64_t{sizeof(row_group)} +
           std::ssize(m_how.windows) * std::int64_t{sizeof(row_window)} +
           rest * std::int64_t{sizeof(double) + sizeof(std::int32_t)};
  }
  void forget() const noexcept override {
    sparse::forget(m_values, m_how.values);
    sparse::forget(m_columns, m_how.columns);
  }

 private:
  static constexpr std::size_t groups_of_window = row_window::rows / row_group::rows;

  /// Copies the rows of a window, entry by entry of its groups.
  void place_window(std::size_t w) {
    const row_window& window = m_how.windows[w];
    Column* columns = m_columns + window.columns;
    Value* values = m_values + window.values;
    const std::size_t end = std::min((w + 1) * groups_of_window, m_how.groups.size());
    for (std::size_t g = w * groups_of_window; g < end; ++g) {
      const row_group& group = m_how.groups[g];
      for (std::int32_t n = 0; n < group.length; ++n)
        for (std::size_t r = 0; r < std::size_t{row_group::rows}; ++r) {
          const std::int64_t row =
              m_begin + static_cast<std::int64_t>(w) * row_window::rows + m_how.places[g * row_group::rows + r];
          if (r == 0 || !group.neighbours) *columns++ = column_at(row, n, window.lowest);
          if (r == 0 || !group.equal) *values++ = value_at(row, n);
        }
    }
  }
  /// Of entry `n` of a row; what fills up has the column of the row's last entry, or else the lowest of its window.
  Column column_at(std::int64_t row, std::int32_t n, std::int32_t lowest) const {
    const std::int64_t begin = m_matrix.row_starts[static_cast<std::size_t>(row)];
    const std::int64_t last = m_matrix.row_starts[static_cast<std::size_t>(row) + 1] - 1;
    if (last < begin) return 0;
    return static_cast<Column>(m_matrix.entry_columns[static_cast<std::size_t>(std::min(begin + n, last))] - lowest);
  }
  Value value_at(std::int64_t row, std::int32_t n) const {
    const std::int64_t k = m_matrix.row_starts[static_cast<std::size_t>(row)] + n;
    if (k >= m_matrix.row_starts[static_cast<std::size_t>(row) + 1]) return Value{0};
    return static_cast<Value>(m_matrix.values[static_cast<std::size_t>(k)]);
  }

  void multiply_windows(std::int64_t first, std::int64_t last, const double* x, double* y) const {
    with_wide_vectors([&] {
      const row_group* const groups = m_how.groups.data();
      for (auto w = static_cast<std::size_t>(first); w < static_cast<std::size_t>(last); ++w, y += row_window::rows) {
        const row_window& window = m_how.windows.data()[w];
        const group_data<Column, Value> data{m_columns + window.columns, m_values + window.values};
        multiply_window(groups + w * groups_of_window,
                        groups + std::min((w + 1) * groups_of_window, m_how.groups.size()),
                        m_how.places.data() + w * row_window::rows, data, x + window.lowest, y);
      }
    });
  }

  const csr_matrix& m_matrix;
  std::int64_t m_begin, m_end, m_grouped_end;
  row_groups m_how;
  Column* m_columns;
  Value* m_values;
};

}  // namespace

std::unique_ptr<panel_product> make_sliced_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                                panel_memory& memory) {
  const std::int64_t grouped_end = begin + (end - begin) / row_group::rows * row_group::rows;
  row_groups how = group_rows(a, begin, grouped_end);
  const std::int64_t entries =
      a.row_starts[static_cast<std::size_t>(grouped_end)] - a.row_starts[static_cast<std::size_t>(begin)];
  if (how.entries * 4 > entries * 5) return nullptr;
  const auto made = [&]<class Column, class Value>(Column, Value) -> std::unique_ptr<panel_product> {
    return std::make_unique<sliced_rows<Column, Value>>(a, begin, end, std::move(how), memory);
  };
  const bool single = are_single(a, begin, grouped_end);
  if (how.narrow) return single ? made(std::uint16_t{}, float{}) : made(std::uint16_t{}, double{});
  return single ? made(std::int32_t{}, float{}) : made(std::int32_t{}, double{});
}

}  // namespace tessera::sparse
