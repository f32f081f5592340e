#pragma once
// Small dense matrices of the solvers' own arithmetic.
#include <complex>
#include <cstdint>
#include <vector>

namespace tessera::sparse {

/// Rows and columns of real or complex numbers, row-major; few columns, at least.
template <class Number>
struct table_of {
  table_of(std::int64_t of_rows, std::int64_t of_columns)
      : rows(of_rows), columns(of_columns), numbers(static_cast<std::size_t>(of_rows * of_columns)) {}
  Number& operator()(std::int64_t i, std::int64_t j) { return numbers[static_cast<std::size_t>(i * columns + j)]; }
  Number operator()(std::int64_t i, std::int64_t j) const { return numbers[static_cast<std::size_t>(i * columns + j)]; }
  std::int64_t rows, columns;
  std::vector<Number> numbers;
};
using small_table = table_of<double>;
using complex_table = table_of<std::complex<double>>;

template <class Number>
table_of<Number> product(const table_of<Number>& a, const table_of<Number>& b);  ///< A B
template <class Number>
table_of<Number> adjoint_product(const table_of<Number>& a, const table_of<Number>& b);  ///< A^H B, of real ones A^T B

/// Eigenvalues, ascending; the columns of `a`, Hermitian up to rounding, become the vectors. Throws tessera::error
/// (numerical) when they do not converge.
template <class Number>
std::vector<double> diagonalize(table_of<Number>& a);

/// Columns T with T^T G T = I that span what G's columns span. Directions below `least` of the largest, and of 1, are
/// left out: G has at most ones on its diagonal.
small_table whitening(const small_table& g, double least);

/// How small the square of a direction is that depends on others.
constexpr double dependent = 1e-12;

}  // namespace tessera::sparse
