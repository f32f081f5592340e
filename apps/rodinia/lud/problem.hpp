#pragma once
// LU decomposition without pivoting: input, closed form, the product of the factors.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int64_t lud_block = 32;  ///< rows and columns of a block

/// A matrix, row by row.
struct lud_input {
  std::int64_t n = 0;
  std::vector<double> a;
};
/// Reads n and n x n numbers. Throws tessera::error (input).
lud_input read_lud_input(const std::filesystem::path& file);

/// A(i, j) = 10 rho^|i - j| of the synthetic matrix.
double lud_element(std::int64_t i, std::int64_t j);
/// Its factors in one matrix: U(i, j) for j >= i, L(i, j) below.
double lud_factor(std::int64_t i, std::int64_t j);

/// How far a product of factors is from a matrix.
struct lud_product {
  double error = 0;    ///< max |L U - A|; huge where an element is no number
  double largest = 0;  ///< max |A|
  double terms = 0;    ///< max |L| |U|: rounding grows with it where there is no pivoting
};

/// @param factors  both in one matrix of n x n; the diagonal of L is 1
template <class T>
lud_product lud_product_of(std::span<const T> factors, const std::vector<double>& a, std::int64_t n) {
  lud_product product;
  std::vector<double> row(static_cast<std::size_t>(n)), sizes(row.size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::ranges::fill(row, 0.0);
    std::ranges::fill(sizes, 0.0);
    for (std::int64_t k = 0; k <= i; ++k) {
      const double l = k == i ? 1 : static_cast<double>(factors[static_cast<std::size_t>(i * n + k)]);
      for (std::int64_t j = k; j < n; ++j) {
        const double term = l * static_cast<double>(factors[static_cast<std::size_t>(k * n + j)]);
        row[static_cast<std::size_t>(j)] += term;
        sizes[static_cast<std::size_t>(j)] += std::abs(term);
      }
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double element = a[static_cast<std::size_t>(i * n) + j], error = std::abs(row[j] - element);
      product.error = std::isnan(error) ? 1e300 : std::max(product.error, error);
      product.largest = std::max(product.largest, std::abs(element));
      product.terms = std::max(product.terms, sizes[j]);
    }
  }
  return product;
}

/// Step k reads and writes the row of blocks from its diagonal on, and the blocks below and to the right of it. Column
/// s of the w columns, continued to whole blocks, costs each row below a division and 2 (w - 1 - s) operations: 2/3
/// w^3.
/// @param element  bytes of a number
workload lud_workload(std::int64_t n, std::size_t element);

}  // namespace tessera::apps::rodinia
