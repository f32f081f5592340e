#pragma once
// What the libraries like cuSPARSE and rocSPARSE share: descriptors, and products on them.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "plugins/kit/kernels/sparse_call.hpp"
#include "tests/vendor/dense.hpp"

namespace tessera::test::vendor {

/// How many descriptors were made and not dropped.
inline std::atomic<int>& live_descriptors() {
  static std::atomic<int> count{0};
  return count;
}

struct sparse_matrix {
  std::int64_t rows, columns, nonzeros, side;  ///< rows and columns of elements
  const std::int32_t *starts, *column_indices;
  const void* values;
  tsr_type type;
};
struct dense_matrix {
  std::int64_t rows, columns, ld;
  void* data;
  tsr_type type;
};

template <class Description>
int describe(void** out, const char* function, const Description& what) {
  if (const int wrong = note(function)) return wrong;
  *out = std::make_unique<Description>(what).release();
  ++live_descriptors();
  return 0;
}
template <class Description>
int drop(void* one, const char* function) {
  const std::unique_ptr<Description> owner(static_cast<Description*>(one));
  --live_descriptors();
  return note(function);
}

/// Whether Y = A X makes sense of the three.
inline bool fits(const sparse_matrix& a, const dense_matrix& x, const dense_matrix& y) {
  return x.rows == a.columns && y.rows == a.rows && x.columns == y.columns && x.ld >= x.columns && y.ld >= y.columns &&
         a.type == x.type && a.type == y.type;
}

/// Y = alpha A X + beta Y in the stream's order, which the descriptors need not live to see. The buffer is used, as the
/// real ones are.
inline void multiply(void* one, const sparse_matrix& a, const dense_matrix& x, const dense_matrix& y, const void* alpha,
                     const void* beta, void* buffer, std::size_t bytes) {
  kit::spmm_call call{};
  call.type = a.type, call.transpose = TSR_NO_TRANSPOSE;
  call.rows = a.rows, call.columns = a.columns, call.tile_rows = call.tile_columns = a.side, call.nonzeros = a.nonzeros;
  call.column_indices = a.column_indices, call.values = a.values;
  call.alpha = scalar_of(a.type, alpha), call.beta = scalar_of(a.type, beta);
  call.b = x.columns, call.ldx = x.ld, call.ldy = y.ld, call.x = x.data, call.y = y.data;
  static_cast<handle*>(one)->stream->run(
      [call, starts = a.starts, lines = a.rows / a.side + 1, buffer, bytes]() mutable {
        if (bytes > 0) std::memset(buffer, 0xab, bytes);
        const std::vector<std::int64_t> wide(starts, starts + lines);
        call.row_starts = wide.data();
        kit::run(call);
      });
}

}  // namespace tessera::test::vendor
