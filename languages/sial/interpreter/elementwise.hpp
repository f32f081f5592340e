#pragma once
// Loops over the elements of blocks, on the calling thread.
#include <array>
#include <cstdint>
#include <span>

namespace tessera::sial {

// All over `count` elements that do not overlap unless they are the same.
void fill(double* to, std::int64_t count, double value);
void add_value(double* to, std::int64_t count, double value);
void multiply(double* to, std::int64_t count, double value);
void copy(double* to, const double* from, std::int64_t count);
void add_scaled(double* to, const double* from, std::int64_t count, double factor);  ///< to += factor from
void scale_into(double* to, const double* from, std::int64_t count, double factor);  ///< to = factor from
void sum_into(double* to, const double* left, const double* right, std::int64_t count,
              double factor);  ///< to = left + factor right
double inner_product(const double* left, const double* right, std::int64_t count);

/// A box inside an array, first dimension fastest.
struct box {
  std::size_t rank = 0;
  std::array<std::int64_t, 8> extents{}, array_extents{}, offset{};
};
/// Dense elements from the box, or into it.
void gather(double* to, const double* array, const box& where);
void scatter(double* array, const double* from, const box& where);
void scatter_value(double* array, double value, const box& where);

/// sum over elements of left(i, j, ...) right(permuted): dimension d of right is dimension permutation[d] of left.
double inner_product_permuted(const double* left, std::span<const std::int64_t> extents, const double* right,
                              const std::uint8_t* permutation);

}  // namespace tessera::sial
