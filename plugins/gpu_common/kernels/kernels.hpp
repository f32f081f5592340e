#pragma once
// The kernels, as plain functions that enqueue on a stream of the current device. Pointers are device addresses,
// checked by the caller; empty shapes enqueue nothing. Element types are those that BLAS and TENSOR tables name. C++17:
// compilers for GPUs read it.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {

/// Writes `count` copies of a pattern of 1, 2, 4, 8 or 16 bytes, read before the call returns.
error_t fill_pattern(void* to, const void* pattern, std::uint32_t pattern_bytes, std::int64_t count, stream_t stream);

/// y += alpha x and x *= alpha, F32 to C128. Increments as in BLAS: with a negative one a vector begins at its end.
error_t axpy(tsr_type type, std::int64_t n, const void* alpha, const void* x, std::int64_t incx, void* y,
             std::int64_t incy, stream_t stream);
error_t scal(tsr_type type, std::int64_t n, const void* alpha, void* x, std::int64_t incx, stream_t stream);

/// conj(x) y and the Euclidean norm of x, written to one element at `result`; sums of F32 and C64 are kept in double.
/// With `scratch` (reduction_scratch bytes, or null) many blocks work, without it one does. The order of summation
/// depends on n and on that alone.
inline constexpr std::size_t reduction_scratch = 256 * 16;
error_t dot(tsr_type type, std::int64_t n, const void* x, std::int64_t incx, const void* y, std::int64_t incy,
            void* result, void* scratch, stream_t stream);
error_t nrm2(tsr_type type, std::int64_t n, const void* x, std::int64_t incx, void* result, void* scratch,
             stream_t stream);

/// to[i] += sources[0][i] + sources[1][i] + …, in this order; also I32 and I64, which wrap around.
error_t reduce_add(tsr_type type, std::int64_t count, void* to, void* const* sources, std::size_t source_count,
                   stream_t stream);

/// A matrix as kernels see it: element (i, j) lies at data + i * row_step + j * column_step elements; conjugated when
/// read. So transposed and reversed matrices are matrices.
struct matrix {
  void* data = nullptr;
  std::int64_t row_step = 1, column_step = 0;
  bool conjugated = false;

  matrix transposed() const { return {data, column_step, row_step, conjugated}; }
};

/// C = alpha A B + beta C, F32 to C128, for `batch` such products. With beta == 0 C is not read, with alpha == 0 A and
/// B are not. `lower`: only elements on and below the diagonal are written.
struct product {
  tsr_type type;
  std::int64_t m, n, k;
  const void *alpha, *beta;  ///< host pointers, read before the call returns
  matrix a, b, c;
  bool lower = false;
  std::int64_t batch = 1;
  std::int64_t step_a = 0, step_b = 0, step_c = 0;  ///< bytes from one of a batch to the next
  /// Or the matrices' data one by one, three pointers each (a, b, c); null otherwise.
  void* const (*pointers)[3] = nullptr;
};
error_t multiply(const product& p, stream_t stream);

/// The part of a matrix that begins at (row, column).
inline matrix part_of(const matrix& whole, std::size_t element_bytes, std::int64_t row, std::int64_t column) {
  matrix part = whole;
  const std::int64_t elements = row * whole.row_step + column * whole.column_step;
  if (elements != 0) part.data = static_cast<char*>(whole.data) + elements * static_cast<std::int64_t>(element_bytes);
  return part;
}

/// Triangles are worked off in panels of so many rows, of which these two do one; products do the rest
/// (triangular.cpp).
inline constexpr int panel = 32;
/// X(rows x columns) = alpha L^-1 X, L lower triangular with `rows` of at most `panel`.
error_t solve_panel(tsr_type type, int rows, std::int64_t columns, const void* alpha, const matrix& l,
                    bool unit_diagonal, const matrix& x, stream_t stream);
/// The Cholesky factor of an n x n lower triangle, n at most `panel`. A bad pivot writes its number, counted from
/// `before`, to *info; nothing is done when *info is not 0.
error_t factor_panel(tsr_type type, int n, std::int64_t before, const matrix& a, std::int32_t* info, stream_t stream);

/// X(n x columns) = alpha L^-1 X, L lower triangular (what lies above its diagonal is not read).
error_t solve_lower(tsr_type type, std::int64_t n, std::int64_t columns, const void* alpha, const matrix& l,
                    bool unit_diagonal, const matrix& x, stream_t stream);

/// The Cholesky factor of the lower triangle of A, in place. *info, a device address, becomes 0, or the 1-based number
/// of the first pivot that is not positive.
error_t factor_lower(tsr_type type, std::int64_t n, const matrix& a, std::int32_t* info, stream_t stream);

/// A permutation as plugins/kit/kernels/permute/permute.hpp plans it: dimensions in the destination's order, first
/// index fastest, strides in elements.
struct permutation {
  std::uint32_t rank;
  std::uint32_t element_bytes;
  std::int64_t elements;
  std::int64_t extents[8], source_strides[8], destination_strides[8];
};
/// alpha and beta: host pointers to an element each, or both null for a pure move of element_bytes each.
error_t permute(const permutation& plan, tsr_type type, const void* alpha, const void* beta, const void* source,
                void* destination, stream_t stream);

}  // namespace tessera::gpu
