#include "libraries/sparse/program/kernels.hpp"

#include <algorithm>
#include <type_traits>

#include "core/base/wide_vectors.hpp"

namespace tessera::sparse::kernels {
namespace {

// Four doubles: a register of AVX2, two of SSE2. Read and written at any address.
typedef double vector4 __attribute__((vector_size(32), aligned(8), may_alias));
constexpr std::int64_t lanes = 4;

/// Calls visit(column, constant) for runs of columns: as many times four as the constant says, most at first.
template <int Most, class Visit>
[[gnu::always_inline]] inline std::int64_t in_vectors(std::int64_t from, std::int64_t width, const Visit& visit) {
  for (; width - from >= Most * lanes; from += Most * lanes) visit(from, std::integral_constant<int, Most>());
  if constexpr (Most > 1) return in_vectors<Most / 2>(from, width, visit);
  return from;
}

/// Rows x columns of the small matrix in registers, over all rows of the strip.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void gram_tile(const double* x, std::int64_t p, const double* y, std::int64_t q,
                                             std::int64_t rows, double* g) {
  vector4 sum[Rows][Vectors] = {};
  for (std::int64_t r = 0; r < rows; ++r, x += p, y += q) {
    vector4 right[Vectors];
    for (int v = 0; v < Vectors; ++v) right[v] = *reinterpret_cast<const vector4*>(y + v * lanes);
    for (int i = 0; i < Rows; ++i)
      for (int v = 0; v < Vectors; ++v) sum[i][v] += x[i] * right[v];
  }
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < Vectors; ++v) *reinterpret_cast<vector4*>(g + i * q + v * lanes) += sum[i][v];
}

/// Rows x columns of y in registers, over all columns of the factors.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void combine_tile(std::span<const factor> from, std::int64_t row, const double* c,
                                                std::int64_t stride, double* y, std::int64_t width) {
  vector4 sum[Rows][Vectors] = {};
  for (const factor& f : from) {
    const double* const x = f.data + row * f.width;
    for (std::int64_t k = 0; k < f.width; ++k, c += stride) {
      vector4 right[Vectors];
      for (int v = 0; v < Vectors; ++v) right[v] = *reinterpret_cast<const vector4*>(c + v * lanes);
      for (int i = 0; i < Rows; ++i)
        for (int v = 0; v < Vectors; ++v) sum[i][v] += x[i * f.width + k] * right[v];
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < Vectors; ++v) *reinterpret_cast<vector4*>(y + (row + i) * width + v * lanes) = sum[i][v];
}

// Single columns lie in memory without gaps: the rows are what fills the vectors.

/// sums[k] += x[k]^T y. The sum of a column has the same bits however many others are done with it.
template <int Count>
[[gnu::always_inline]] inline void add_dots_of_columns(const double* const* columns, const double* y, std::int64_t rows,
                                                       double* sums) {
  constexpr std::int64_t parts = 4;  // so many additions to a sum can be under way
  const double* x[Count];
  for (int k = 0; k < Count; ++k) x[k] = columns[k];
  vector4 sum[Count][parts] = {};
  std::int64_t r = 0;
  for (; r + parts * lanes <= rows; r += parts * lanes)
    for (std::int64_t p = 0; p < parts; ++p) {
      const vector4 right = *reinterpret_cast<const vector4*>(y + r + p * lanes);
      for (int k = 0; k < Count; ++k) sum[k][p] += *reinterpret_cast<const vector4*>(x[k] + r + p * lanes) * right;
    }
  for (int k = 0; k < Count; ++k) {
    const vector4 all = (sum[k][0] + sum[k][1]) + (sum[k][2] + sum[k][3]);
    double rest = (all[0] + all[1]) + (all[2] + all[3]);
    for (std::int64_t left = r; left < rows; ++left) rest += x[k][left] * y[left];
    sums[k] += rest;
  }
}

/// y = the sum of `Count` columns times c, and of y where there were columns before: one after the other.
template <int Count>
[[gnu::always_inline]] inline void add_columns(const factor* columns, const double* c, std::int64_t stride, bool first,
                                               double* __restrict y, std::int64_t rows) {
  const double* x[Count];
  double scale[Count];
  for (int k = 0; k < Count; ++k) x[k] = columns[k].data, scale[k] = c[k * stride];
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = first ? 0 : y[r];
    for (int k = 0; k < Count; ++k) sum += x[k][r] * scale[k];
    y[r] = sum;
  }
}

[[gnu::always_inline]] inline void combine_columns(std::span<const factor> x, const double* c, std::int64_t stride,
                                                   double* y, std::int64_t rows) {
  std::size_t k = 0;
  for (; k + 8 <= x.size(); k += 8, c += 8 * stride) add_columns<8>(&x[k], c, stride, k == 0, y, rows);
  for (; k + 2 <= x.size(); k += 2, c += 2 * stride) add_columns<2>(&x[k], c, stride, k == 0, y, rows);
  if (k < x.size()) add_columns<1>(&x[k], c, stride, k == 0, y, rows);
}

}  // namespace

void multiply(const csr_matrix& a, std::int64_t begin, std::int64_t end, std::int64_t width, std::span<const piece> x,
              double* y) {
  with_wide_vectors([&] {
    for (std::int64_t row = begin; row < end; ++row, y += width) {
      std::fill_n(y, width, 0.0);
      const piece* in = x.data();  // columns ascend
      for (std::int64_t k = a.row_starts.data()[row]; k < a.row_starts.data()[row + 1]; ++k) {
        const std::int64_t column = a.entry_columns.data()[k];
        while (column >= in->end) ++in;
        const double* const source = in->data + (column - in->begin) * width;
        const double value = a.values.data()[k];
        for (std::int64_t j = 0; j < width; ++j) y[j] += value * source[j];
      }
    }
  });
}

void add_gram(const double* x, std::int64_t p, const double* y, std::int64_t q, std::int64_t rows, double* g) {
  const bool upper = x == y;
  with_wide_vectors([&] {
    if (p == 1 && q == 1) return add_dots_of_columns<1>(&x, y, rows, g);
    const auto columns = [&](std::int64_t i, auto height) {
      const std::int64_t done = in_vectors<2>(upper ? i : 0, q, [&](std::int64_t j, auto vectors) {
        gram_tile<decltype(height)::value, decltype(vectors)::value>(x + i, p, y + j, q, rows, g + i * q + j);
      });
      for (std::int64_t j = done; j < q; ++j)
        for (int h = 0; h < decltype(height)::value; ++h) {
          double sum = 0;
          for (std::int64_t r = 0; r < rows; ++r) sum += x[r * p + i + h] * y[r * q + j];
          g[(i + h) * q + j] += sum;
        }
    };
    std::int64_t i = 0;
    for (; i + 4 <= p; i += 4) columns(i, std::integral_constant<int, 4>());
    for (; i < p; ++i) columns(i, std::integral_constant<int, 1>());
  });
}

void add_grams(std::span<const double* const> columns, const double* y, std::int64_t rows, double* sums) {
  with_wide_vectors([&] {
    std::size_t k = 0;
    for (; k + 3 <= columns.size(); k += 3) add_dots_of_columns<3>(&columns[k], y, rows, sums + k);
    for (; k < columns.size(); ++k) add_dots_of_columns<1>(&columns[k], y, rows, sums + k);
  });
}

void combine(std::span<const factor> x, const double* c, std::int64_t stride, double* y, std::int64_t width,
             std::int64_t rows) {
  const bool columns = width == 1 && std::ranges::all_of(x, [](const factor& f) { return f.width == 1; });
  with_wide_vectors([&] {
    if (columns) return combine_columns(x, c, stride, y, rows);
    const std::int64_t done = in_vectors<2>(0, width, [&](std::int64_t j, auto vectors) {
      std::int64_t row = 0;
      for (; row + 4 <= rows; row += 4) combine_tile<4, decltype(vectors)::value>(x, row, c + j, stride, y + j, width);
      for (; row < rows; ++row) combine_tile<1, decltype(vectors)::value>(x, row, c + j, stride, y + j, width);
    });
    for (std::int64_t j = done; j < width; ++j)
      for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        const double* factors = c + j;
        for (const factor& f : x)
          for (std::int64_t k = 0; k < f.width; ++k, factors += stride) sum += f.data[row * f.width + k] * *factors;
        y[row * width + j] = sum;
      }
  });
}

void add_scaled(const double* alpha, const double* x, double* y, std::int64_t width, std::int64_t rows) {
  if (width == 1) return add_multiple(*alpha, x, y, rows);
  with_wide_vectors([&] {
    for (std::int64_t r = 0; r < rows; ++r, x += width, y += width)
      for (std::int64_t j = 0; j < width; ++j) y[j] += alpha[j] * x[j];
  });
}

void add_multiple(double factor, const double* x, double* y, std::int64_t count) {
  with_wide_vectors([&] {
    for (std::int64_t k = 0; k < count; ++k) y[k] += factor * x[k];
  });
}

void axpby(double alpha, const double* x, double beta, double* y, std::int64_t count) {
  with_wide_vectors([&] {
    if (beta == 0)
      for (std::int64_t k = 0; k < count; ++k) y[k] = alpha * x[k];
    else
      for (std::int64_t k = 0; k < count; ++k) y[k] = alpha * x[k] + beta * y[k];
  });
}

void add_to_multiple(const double* x, double factor, double* y, std::int64_t count) {
  with_wide_vectors([&] {
    for (std::int64_t k = 0; k < count; ++k) y[k] = x[k] + factor * y[k];
  });
}

void multiply_elements(const double* x, const double* y, double* z, std::int64_t count) {
  with_wide_vectors([&] {
    for (std::int64_t k = 0; k < count; ++k) z[k] = x[k] * y[k];
  });
}

void scale(const double* alpha, const double* x, double* y, std::int64_t width, std::int64_t rows) {
  with_wide_vectors([&] {
    for (std::int64_t r = 0; r < rows; ++r, x += width, y += width)
      for (std::int64_t j = 0; j < width; ++j) y[j] = alpha[j] * x[j];
  });
}

void scale_rows(const double* d, const double* x, double* y, std::int64_t width, std::int64_t rows) {
  with_wide_vectors([&] {
    for (std::int64_t r = 0; r < rows; ++r, x += width, y += width)
      for (std::int64_t j = 0; j < width; ++j) y[j] = d[r] * x[j];
  });
}

void add_dots(const double* x, const double* y, std::int64_t width, std::int64_t rows, double* sums) {
  with_wide_vectors([&] {
    if (width == 1) return add_dots_of_columns<1>(&x, y, rows, sums);
    for (std::int64_t r = 0; r < rows; ++r, x += width, y += width)
      for (std::int64_t j = 0; j < width; ++j) sums[j] += x[j] * y[j];
  });
}

}  // namespace tessera::sparse::kernels
