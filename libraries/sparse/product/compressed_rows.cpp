#include "libraries/sparse/product/compressed_rows.hpp"

#include "core/base/wide_vectors.hpp"
#include "libraries/sparse/product/column_groups.hpp"
#include "libraries/sparse/product/forgetting.hpp"

namespace tessera::sparse {
namespace {

/// Rows that follow each other, from the first entry of the first one on.
struct entries {
  const std::int64_t* starts;  ///< rows + 1; differences count
  std::int64_t rows;
  const std::int32_t* columns;
  const double* values;
};

/// A row of the product at a time, in registers.
template <class Group>
[[gnu::always_inline]] inline void multiply_group(const Group& group, entries a, std::int64_t width, const double* x,
                                                  double* y) {
  for (std::int64_t row = 0; row < a.rows; ++row, y += width) {
    typename Group::vector sum[Group::count] = {};
    for (std::int64_t n = a.starts[row + 1] - a.starts[row]; n > 0; --n, ++a.columns, ++a.values) {
      const double* const source = x + *a.columns * width;
      for (int k = 0; k < Group::count; ++k) sum[k] += *a.values * vector_at<Group::lanes>(source + group.begin(k));
    }
    for (int k = 0; k < Group::count; ++k) vector_at<Group::lanes>(y + group.begin(k)) = sum[k];
  }
}

[[gnu::always_inline]] inline void multiply_vector(entries a, const double* x, double* y) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = 0;
    for (std::int64_t n = a.starts[row + 1] - a.starts[row]; n > 0; --n, ++a.columns, ++a.values)
      sum += *a.values * x[*a.columns];
    y[row] = sum;
  }
}

/// The matrix as it is.
class compressed_rows final : public panel_product {
 public:
  compressed_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end)
      : m_matrix(a), m_begin(begin), m_end(end) {}
  void multiply(std::int64_t begin, std::int64_t end, std::int64_t width, const double* x, double* y) const override {
    multiply_rows(m_matrix, begin, end, width, x, y);
  }
  matrix_form form() const noexcept override { return matrix_form::csr; }
  std::int64_t bytes() const noexcept override { return bytes_of_compressed_rows(m_end - m_begin, size()); }
  void forget() const noexcept override {
    sparse::forget(m_matrix.values.data() + first(), size());
    sparse::forget(m_matrix.entry_columns.data() + first(), size());
    sparse::forget(m_matrix.row_starts.data() + m_begin, m_end - m_begin);
  }

 private:
  std::int64_t first() const noexcept { return m_matrix.row_starts[static_cast<std::size_t>(m_begin)]; }
  std::int64_t size() const noexcept { return m_matrix.row_starts[static_cast<std::size_t>(m_end)] - first(); }
  const csr_matrix& m_matrix;
  std::int64_t m_begin, m_end;
};

}  // namespace

void multiply_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end, std::int64_t width, const double* x,
                   double* y) {
  const std::int64_t* const starts = a.row_starts.data() + begin;
  const entries all{starts, end - begin, a.entry_columns.data() + *starts, a.values.data() + *starts};
  with_wide_vectors([&] {
    if (width == 1) return multiply_vector(all, x, y);
    in_column_groups<8>(width, [&](const auto& group) { multiply_group(group, all, width, x, y); });
  });
}

std::unique_ptr<panel_product> make_compressed_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end) {
  return std::make_unique<compressed_rows>(a, begin, end);
}

}  // namespace tessera::sparse
