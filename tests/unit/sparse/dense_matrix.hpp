#pragma once
// Small dense matrices by plain loops: what operators and solvers are compared with.
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// n x n, row-major.
struct dense_matrix {
  explicit dense_matrix(std::int64_t rows)
      : n(static_cast<std::size_t>(rows)), elements(static_cast<std::size_t>(rows * rows), 0.0) {}
  explicit dense_matrix(const csr_matrix& a) : dense_matrix(a.rows) {
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
        (*this)(i, static_cast<std::size_t>(a.entry_columns[k])) = a.values[k];
  }
  static dense_matrix identity(std::int64_t rows) {
    dense_matrix made(rows);
    for (std::size_t i = 0; i < made.n; ++i) made(i, i) = 1;
    return made;
  }
  double& operator()(std::size_t i, std::size_t j) { return elements[i * n + j]; }
  double operator()(std::size_t i, std::size_t j) const { return elements[i * n + j]; }

  dense_matrix transposed() const {
    dense_matrix made(static_cast<std::int64_t>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) made(j, i) = (*this)(i, j);
    return made;
  }
  /// This, and `factor` times another one.
  dense_matrix plus(double factor, const dense_matrix& other) const {
    dense_matrix made = *this;
    for (std::size_t k = 0; k < elements.size(); ++k) made.elements[k] += factor * other.elements[k];
    return made;
  }
  dense_matrix times(const dense_matrix& other) const {
    dense_matrix made(static_cast<std::int64_t>(n));
    made.elements = times(other.elements);
    return made;
  }
  /// Of a block of vectors, row-major.
  std::vector<double> times(std::span<const double> x) const {
    const std::size_t width = x.size() / n;
    std::vector<double> y(x.size(), 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < width; ++j) y[i * width + j] += (*this)(i, k) * x[k * width + j];
    return y;
  }
  /// The solution of A X = B by elimination with row pivots.
  std::vector<double> solve(std::vector<double> b) const {
    const std::size_t width = b.size() / n;
    dense_matrix left = *this;
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k; i < n; ++i)
        if (std::abs(left(i, k)) > std::abs(left(pivot, k))) pivot = i;
      for (std::size_t j = 0; j < n; ++j) std::swap(left(k, j), left(pivot, j));
      for (std::size_t j = 0; j < width; ++j) std::swap(b[k * width + j], b[pivot * width + j]);
      for (std::size_t i = 0; i < n; ++i) {
        if (i == k) continue;
        const double factor = left(i, k) / left(k, k);
        for (std::size_t j = k; j < n; ++j) left(i, j) -= factor * left(k, j);
        for (std::size_t j = 0; j < width; ++j) b[i * width + j] -= factor * b[k * width + j];
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < width; ++j) b[i * width + j] /= left(i, i);
    return b;
  }

  std::size_t n;
  std::vector<double> elements;
};

/// Numbers that repeat nowhere.
inline std::vector<double> some_numbers(std::int64_t count, double seed) {
  std::vector<double> made(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < made.size(); ++k) made[k] = std::sin(seed + 0.37 * static_cast<double>(k * k));
  return made;
}

/// About four entries a row, not symmetric.
inline csr_matrix some_matrix(std::int64_t n, double seed, const std::string& name) {
  std::vector<triplet> entries;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t j = (i * (k + 3) + 5 * k + static_cast<std::int64_t>(10 * seed)) % n;
      entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                         std::sin(seed + static_cast<double>(i + 7 * k))});
    }
  return matrix_of(name, n, n, entries);
}

}  // namespace tessera::sparse
