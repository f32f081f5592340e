#pragma once
// Values of a matrix as a form stores them: in single precision where that changes none of them.
#include <cstdint>

#include "libraries/sparse/matrix/csr_matrix.hpp"
#include "libraries/sparse/product/column_groups.hpp"

namespace tessera::sparse {

/// Whether all values of rows [begin, end) are numbers of single precision. Such values take half the memory, and
/// become doubles again before they are multiplied, so that products have the same bits.
bool are_single(const csr_matrix& a, std::int64_t begin, std::int64_t end);

/// Adds to four sums the products of the four values at an address with `x`.
[[gnu::always_inline]] inline void add_products(vector4& sums, const double* values, const vector4& x) {
  sums += vector_at<4>(values) * x;
}
[[gnu::always_inline]] inline void add_products(vector4& sums, const float* values, const vector4& x) {
  typedef float singles __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(float)), may_alias));
  sums += __builtin_convertvector(*reinterpret_cast<const singles*>(values), vector4) * x;
}

}  // namespace tessera::sparse
