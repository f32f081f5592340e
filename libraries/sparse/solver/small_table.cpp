#include "libraries/sparse/solver/small_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "libraries/lapack/lapack.hpp"

namespace tessera::sparse {
namespace {

double conjugate(double x) { return x; }
std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

int eigenvectors(int n, double* columns, double* values) { return lapack::dsyev(n, columns, values); }
int eigenvectors(int n, std::complex<double>* columns, double* values) { return lapack::zheev(n, columns, values); }

}  // namespace

template <class Number>
table_of<Number> product(const table_of<Number>& a, const table_of<Number>& b) {
  table_of<Number> made(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) made(i, j) += a(i, k) * b(k, j);
  return made;
}

template <class Number>
table_of<Number> adjoint_product(const table_of<Number>& a, const table_of<Number>& b) {
  table_of<Number> made(a.columns, b.columns);
  for (std::int64_t k = 0; k < a.rows; ++k)
    for (std::int64_t i = 0; i < a.columns; ++i)
      for (std::int64_t j = 0; j < b.columns; ++j) made(i, j) += conjugate(a(k, i)) * b(k, j);
  return made;
}

template <class Number>
std::vector<double> diagonalize(table_of<Number>& a) {
  const std::int64_t n = a.rows;
  table_of<Number> vectors(n, n);  // in rows, which are LAPACK's columns
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) vectors(j, i) = 0.5 * (a(i, j) + conjugate(a(j, i)));
  std::vector<double> values(static_cast<std::size_t>(n));
  if (eigenvectors(static_cast<int>(n), vectors.numbers.data(), values.data()) != 0)
    throw error(error_kind::numerical, "the eigenvalues of a small matrix do not converge", "rayleigh_ritz");
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = vectors(j, i);
  return values;
}

template small_table product(const small_table&, const small_table&);
template complex_table product(const complex_table&, const complex_table&);
template small_table adjoint_product(const small_table&, const small_table&);
template complex_table adjoint_product(const complex_table&, const complex_table&);
template std::vector<double> diagonalize(small_table&);
template std::vector<double> diagonalize(complex_table&);

small_table whitening(const small_table& g, double least) {
  small_table vectors = g;
  const std::vector<double> values = diagonalize(vectors);
  const double floor = least * std::max(values.back(), 1.0);
  const auto first = std::ranges::find_if(values, [&](double v) { return v > floor; }) - values.begin();
  small_table made(g.rows, g.rows - first);
  for (std::int64_t i = 0; i < made.rows; ++i)
    for (std::int64_t j = 0; j < made.columns; ++j)
      made(i, j) = vectors(i, first + j) / std::sqrt(values[static_cast<std::size_t>(first + j)]);
  return made;
}

}  // namespace tessera::sparse
