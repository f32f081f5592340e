#pragma once
// Small dense matrices of the solvers' own arithmetic.
#include <cstdint>
#include <vector>

namespace tessera::sparse {

/// A few rows and columns, row-major.
struct small_table {
  small_table(std::int64_t of_rows, std::int64_t of_columns)
      : rows(of_rows), columns(of_columns), numbers(static_cast<std::size_t>(of_rows * of_columns), 0.0) {}
  double& operator()(std::int64_t i, std::int64_t j) { return numbers[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return numbers[static_cast<std::size_t>(i * columns + j)]; }
  std::int64_t rows, columns;
  std::vector<double> numbers;
};

small_table product(const small_table& a, const small_table& b);             ///< A B
small_table transposed_product(const small_table& a, const small_table& b);  ///< A^T B

/// Eigenvalues, ascending; the columns of `a`, symmetric up to rounding, become the vectors. Throws tessera::error
/// (numerical) when they do not converge.
std::vector<double> diagonalize(small_table& a);

/// Columns T with T^T G T = I that span what G's columns span. Directions below `least` of the largest, and of 1, are
/// left out: G has at most ones on its diagonal.
small_table whitening(const small_table& g, double least);

/// How small the square of a direction is that depends on others.
constexpr double dependent = 1e-12;

}  // namespace tessera::sparse
