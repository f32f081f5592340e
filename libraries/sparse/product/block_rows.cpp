#include "libraries/sparse/product/block_rows.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/wide_vectors.hpp"
#include "libraries/sparse/product/column_groups.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/product/forgetting.hpp"
#include "libraries/sparse/product/stored_values.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t side = 3;

/// Blocks of rows that follow each other.
template <class Value>
struct blocks {
  const std::int64_t* starts;   ///< of the first three rows
  std::int64_t count;           ///< threes of rows
  const std::int32_t* columns;  ///< of each block from the first on: where it begins
  const Value* values;          ///< of each block, column by column
};

/// Three rows of the product at a time, in registers.
template <class Group, class Value>
[[gnu::always_inline]] inline void multiply_group(const Group& group, blocks<Value> a, std::int64_t width,
                                                  const double* x, double* y) {
  for (std::int64_t b = 0; b < a.count; ++b, y += side * width) {
    typename Group::vector sum[side][Group::count] = {};
    for (std::int64_t n = a.starts[b + 1] - a.starts[b]; n > 0; --n, ++a.columns) {
      const double* source = x + std::int64_t{*a.columns} * width;
      for (int c = 0; c < side; ++c, source += width, a.values += side)
        for (int k = 0; k < Group::count; ++k) {
          const typename Group::vector from = vector_at<Group::lanes>(source + group.begin(k));
          for (int r = 0; r < side; ++r) sum[r][k] += static_cast<double>(a.values[r]) * from;
        }
    }
    for (int r = 0; r < side; ++r)
      for (int k = 0; k < Group::count; ++k) vector_at<Group::lanes>(y + r * width + group.begin(k)) = sum[r][k];
  }
}

template <class Value>
[[gnu::always_inline]] inline void multiply_vector(blocks<Value> a, const double* x, double* y) {
  for (std::int64_t b = 0; b < a.count; ++b, y += side) {
    double sum[side] = {};
    for (std::int64_t n = a.starts[b + 1] - a.starts[b]; n > 0; --n, ++a.columns)
      for (int c = 0; c < side; ++c, a.values += side)
        for (int r = 0; r < side; ++r) sum[r] += static_cast<double>(a.values[r]) * x[*a.columns + c];
    for (int r = 0; r < side; ++r) y[r] = sum[r];
  }
}

/// Calls visit(column, first) for each block of rows [row, row + 3): where it begins, and of each row the first entry
/// that is not in an earlier block. A block lies in one of the parts of x, which have three rows at least.
template <class Visit>
void for_blocks(const csr_matrix& a, std::int64_t row, const row_panels& parts, const Visit& visit) {
  std::int64_t at[side];
  const std::int64_t* const ends = a.row_starts.data() + row + 1;
  std::copy_n(a.row_starts.data() + row, side, at);
  for (std::int64_t part_end = 0;;) {
    std::int64_t column = std::numeric_limits<std::int64_t>::max();
    for (int r = 0; r < side; ++r)
      if (at[r] < ends[r]) column = std::min<std::int64_t>(column, a.entry_columns[static_cast<std::size_t>(at[r])]);
    if (column == std::numeric_limits<std::int64_t>::max()) return;
    if (column >= part_end) part_end = parts.end(parts.of_row(column));
    column = std::min(column, part_end - side);
    visit(column, at);
    for (int r = 0; r < side; ++r)
      while (at[r] < ends[r] && a.entry_columns[static_cast<std::size_t>(at[r])] < column + side) ++at[r];
  }
}

template <class Value>
class block_rows final : public panel_product {
 public:
  block_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end, std::int64_t block_begin,
             std::vector<std::int64_t> starts, const row_panels& parts, panel_memory& memory)
      : m_matrix(a),
        m_begin(begin),
        m_end(end),
        m_block_begin(block_begin),
        m_block_end(block_begin + (std::ssize(starts) - 1) * side),
        m_starts(std::move(starts)) {
    m_columns = memory.take<std::int32_t>(m_starts.back());
    m_values = memory.take<Value>(m_starts.back() * side * side);
    std::fill_n(m_values, m_starts.back() * side * side, Value{0});
    std::int32_t* place = m_columns;
    Value* to = m_values;
    for (std::int64_t row = m_block_begin; row < m_block_end; row += side)
      for_blocks(a, row, parts, [&](std::int64_t column, const std::int64_t* at) {
        *place++ = static_cast<std::int32_t>(column);
        for (std::int64_t r = 0; r < side; ++r)
          for (std::int64_t k = at[r]; k < a.row_starts[static_cast<std::size_t>(row + r) + 1]; ++k) {
            const std::int64_t c = a.entry_columns[static_cast<std::size_t>(k)] - column;
            if (c >= side) break;
            to[c * side + r] = static_cast<Value>(a.values[static_cast<std::size_t>(k)]);
          }
        to += side * side;
      });
  }

  void multiply(std::int64_t begin, std::int64_t end, std::int64_t width, const double* x, double* y) const override {
    const std::int64_t from = std::clamp((begin + side - 1) / side * side, m_block_begin, m_block_end);
    const std::int64_t to = std::clamp(end / side * side, from, m_block_end);
    if (from >= to) return multiply_rows(m_matrix, begin, end, width, x, y);
    multiply_rows(m_matrix, begin, from, width, x, y);
    multiply_blocks(from, to, width, x, y + (from - begin) * width);
    multiply_rows(m_matrix, to, end, width, x, y + (to - begin) * width);
  }
  matrix_form form() const noexcept override { return matrix_form::bcsr; }
  std::int64_t bytes() const noexcept override {
    const auto entries_of = [&](std::int64_t from, std::int64_t to) {
      return m_matrix.row_starts[static_cast<std::size_t>(to)] - m_matrix.row_starts[static_cast<std::size_t>(from)];
    };
    return (entries_of(m_begin, m_block_begin) + entries_of(m_block_end, m_end)) *
               std::int64_t{sizeof(double) + sizeof(std::int32_t)} +
           m_starts.back() * side * side * std::int64_t{sizeof(Value)} +
           m_starts.back() * std::int64_t{sizeof(std::int32_t)} +
           std::ssize(m_starts) * std::int64_t{sizeof(std::int64_t)};
  }
  void forget() const noexcept override {
    sparse::forget(m_values, m_starts.back() * side * side);
    sparse::forget(m_columns, m_starts.back());
  }

 private:
  void multiply_blocks(std::int64_t begin, std::int64_t end, std::int64_t width, const double* x, double* y) const {
    const std::int64_t* const starts = m_starts.data() + (begin - m_block_begin) / side;
    const blocks<Value> all{starts, (end - begin) / side, m_columns + *starts, m_values + *starts * side * side};
    with_wide_vectors([&] {
      if (width == 1) return multiply_vector(all, x, y);
      in_column_groups<4>(width, [&](const auto& group) { multiply_group(group, all, width, x, y); });
    });
  }

  const csr_matrix& m_matrix;
  std::int64_t m_begin, m_end, m_block_begin, m_block_end;
  std::vector<std::int64_t> m_starts;  ///< blocks of each three rows
  std::int32_t* m_columns;             ///< where each block begins
  Value* m_values;                     ///< of each block, column by column
};

}  // namespace

std::unique_ptr<panel_product> make_block_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                               const row_panels& parts, panel_memory& memory) {
  const std::int64_t block_begin = (begin + side - 1) / side * side, block_end = end / side * side;
  if (block_begin >= block_end) return nullptr;
  for (std::int64_t part = 0; part < parts.count(); ++part)
    if (parts.end(part) - parts.begin(part) < side) return nullptr;
  std::vector<std::int64_t> starts(1, 0);
  for (std::int64_t row = block_begin; row < block_end; row += side) {
    std::int64_t count = starts.back();
    for_blocks(a, row, parts, [&](std::int64_t, const std::int64_t*) { ++count; });
    starts.push_back(count);
  }
  const std::int64_t entries =
      a.row_starts[static_cast<std::size_t>(block_end)] - a.row_starts[static_cast<std::size_t>(block_begin)];
  if (starts.back() * side * side * 4 > entries * 5) return nullptr;
  if (are_single(a, block_begin, block_end))
    return std::make_unique<block_rows<float>>(a, begin, end, block_begin, std::move(starts), parts, memory);
  return std::make_unique<block_rows<double>>(a, begin, end, block_begin, std::move(starts), parts, memory);
}

}  // namespace tessera::sparse
