#pragma once
// The product of two matrices in tiles, as tasks.
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Submits C = A B, one task per tile of C and tile along the inner dimension; the first overwrites C.
template <class T>
void multiply(runtime& rt, const array<T>& a, const array<T>& b, array<T>& c) {
  for (std::int64_t j = 0; j < c.counts()[1]; ++j)
    for (std::int64_t i = 0; i < c.counts()[0]; ++i)
      for (std::int64_t l = 0; l < a.counts()[1]; ++l)
        gemm(rt, T{1}, a(i, l), transpose::no, b(l, j), transpose::no, l == 0 ? T{0} : T{1}, c(i, j));
}

}  // namespace tessera::apps
