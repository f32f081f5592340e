#pragma once
// The lower triangle of a symmetric matrix, by columns.
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/matrix_market/read.hpp"

namespace tessera::matrix_market {

/// A symmetric sparse matrix: its lower triangle with the diagonal, columns in order, rows ascending within a column.
struct lower_triangle {
  std::int64_t n = 0;
  std::vector<std::int64_t> starts;  ///< n + 1; entries of column j are starts[j] .. starts[j + 1]
  std::vector<std::int32_t> rows;
  std::vector<double> values;
};

/// Throws tessera::error of kind input, with the line, for a matrix that is not square, an entry that is given twice,
/// and a general matrix whose entries differ from their mirror images by more than rounding (1e-10 of the larger; the
/// lower one is taken).
lower_triangle symmetric_of(const matrix& m);

/// y = A x with both triangles. x and y have n elements and do not overlap. Sums in long double.
void multiply(const lower_triangle& a, std::span<const double> x, std::span<double> y);

/// Largest sum of absolute values of a row.
double infinity_norm(const lower_triangle& a);

}  // namespace tessera::matrix_market
