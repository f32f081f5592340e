#include "languages/sial/interpreter/elementwise.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::sial {
namespace {

/// Calls function(position in the array, position in the dense elements, elements) for each run of the first dimension.
template <class Function>
void for_each_run(const box& b, Function&& function) {
  std::array<std::int64_t, 8> at{}, stride{};
  std::int64_t step = 1, begin = 0, runs = 1;
  for (std::size_t d = 0; d < b.rank; ++d) {
    stride[d] = step;
    begin += b.offset[d] * step;
    step *= b.array_extents[d];
    if (d > 0) runs *= b.extents[d];
  }
  const std::int64_t length = b.rank == 0 ? 1 : b.extents[0];
  if (length == 0) return;
  for (std::int64_t r = 0, dense = 0; r < runs; ++r, dense += length) {
    function(begin, dense, length);
    for (std::size_t d = 1; d < b.rank; ++d) {
      begin += stride[d];
      if (++at[d] < b.extents[d]) break;
      begin -= stride[d] * b.extents[d];
      at[d] = 0;
    }
  }
}

}  // namespace

void fill(double* to, std::int64_t count, double value) { std::fill_n(to, count, value); }
void add_value(double* to, std::int64_t count, double value) {
  for (std::int64_t k = 0; k < count; ++k) to[k] += value;
}
void multiply(double* to, std::int64_t count, double value) {
  for (std::int64_t k = 0; k < count; ++k) to[k] *= value;
}
void copy(double* to, const double* from, std::int64_t count) {
  if (to != from) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
}
void add_scaled(double* to, const double* from, std::int64_t count, double factor) {
  for (std::int64_t k = 0; k < count; ++k) to[k] += factor * from[k];
}
void scale_into(double* to, const double* from, std::int64_t count, double factor) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = factor * from[k];
}
void sum_into(double* to, const double* left, const double* right, std::int64_t count, double factor) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = left[k] + factor * right[k];
}

double inner_product(const double* left, const double* right, std::int64_t count) {
  std::array<double, 8> parts{};  // in a fixed order, and short enough for registers
  std::int64_t k = 0;
  for (; k + 8 <= count; k += 8)
    for (std::size_t p = 0; p < 8; ++p)
      parts[p] += left[k + static_cast<std::int64_t>(p)] * right[k + static_cast<std::int64_t>(p)];
  double sum = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
  for (; k < count; ++k) sum += left[k] * right[k];
  return sum;
}

void gather(double* to, const double* array, const box& where) {
  for_each_run(where, [&](std::int64_t in, std::int64_t dense, std::int64_t n) { copy(to + dense, array + in, n); });
}
void scatter(double* array, const double* from, const box& where) {
  for_each_run(where, [&](std::int64_t in, std::int64_t dense, std::int64_t n) { copy(array + in, from + dense, n); });
}
void scatter_value(double* array, double value, const box& where) {
  for_each_run(where, [&](std::int64_t in, std::int64_t, std::int64_t n) { fill(array + in, n, value); });
}

double inner_product_permuted(const double* left, std::span<const std::int64_t> extents, const double* right,
                              const std::uint8_t* permutation) {
  const std::size_t rank = extents.size();
  std::array<std::int64_t, 8> left_stride{}, stride{}, length{}, at{};
  std::int64_t step = 1, count = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    left_stride[d] = step;
    step *= extents[d];
  }
  for (std::size_t d = 0; d < rank; ++d) {
    length[d] = extents[permutation[d]];
    stride[d] = left_stride[permutation[d]];
    count *= length[d];
  }
  double sum = 0;
  const std::int64_t inner = length[0], by = stride[0];
  for (std::int64_t k = 0; k < count; k += inner) {
    double part = 0;
    for (std::int64_t i = 0; i < inner; ++i) part += left[i * by] * right[k + i];
    sum += part;
    for (std::size_t d = 1; d < rank; ++d) {
      left += stride[d];
      if (++at[d] < length[d]) break;
      left -= stride[d] * length[d];
      at[d] = 0;
    }
  }
  return sum;
}

}  // namespace tessera::sial
