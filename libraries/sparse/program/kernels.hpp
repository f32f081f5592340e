#pragma once
// Loops over a strip of rows of block vectors, row-major, for any number of columns; for the processor's vectors.
#include <cstdint>
#include <span>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse::kernels {

/// Rows of a block vector that are one behind the other.
struct piece {
  const double* data;
  std::int64_t begin, end;  ///< rows of the whole
};

/// Rows [begin, end) of y = A x, `width` columns; `y` is row `begin`. The rows of x that are needed lie in pieces,
/// ascending. The same bits as those of panel_product::multiply, which is for one piece.
void multiply(const csr_matrix& a, std::int64_t begin, std::int64_t end, std::int64_t width, std::span<const piece> x,
              double* y);

/// g += X^T Y over `rows` rows; g is p x q. Where x is y, the upper triangle of g alone: what is below means nothing.
void add_gram(const double* x, std::int64_t p, const double* y, std::int64_t q, std::int64_t rows, double* g);

/// sums[k] += columns[k]^T y over `rows` rows: the bits of add_gram for each single column, and y is read less often.
void add_grams(std::span<const double* const> columns, const double* y, std::int64_t rows, double* sums);

/// A factor of combine: rows of `width` columns.
struct factor {
  const double* data;
  std::int64_t width;
};
/// y = [x1 x2 ...] C over `rows` rows: `width` columns from C's row-major rows of `stride`. y overlaps no source.
void combine(std::span<const factor> x, const double* c, std::int64_t stride, double* y, std::int64_t width,
             std::int64_t rows);

/// y += x diag(alpha).
void add_scaled(const double* alpha, const double* x, double* y, std::int64_t width, std::int64_t rows);
/// y += factor x, all `count` numbers.
void add_multiple(double factor, const double* x, double* y, std::int64_t count);
/// y = alpha x + beta y, all `count` numbers; y may be x. With beta 0 the y before do not matter.
void axpby(double alpha, const double* x, double beta, double* y, std::int64_t count);
/// y = x + factor y, all `count` numbers.
void add_to_multiple(const double* x, double factor, double* y, std::int64_t count);
/// z = x y, each of the `count` numbers; z may be x or y.
void multiply_elements(const double* x, const double* y, double* z, std::int64_t count);
/// y = x diag(alpha); y may be x.
void scale(const double* alpha, const double* x, double* y, std::int64_t width, std::int64_t rows);
/// y = diag(d) x; y may be x.
void scale_rows(const double* d, const double* x, double* y, std::int64_t width, std::int64_t rows);
/// sums += products of the columns of x with those of y; y may be x.
void add_dots(const double* x, const double* y, std::int64_t width, std::int64_t rows, double* sums);

}  // namespace tessera::sparse::kernels
