// Products with sparse matrices on the processor, by one thread.
#include <algorithm>
#include <complex>

#include "plugins/kit/kernels/numbers.hpp"
#include "plugins/kit/kernels/sparse_call.hpp"

namespace tessera::kit {
namespace {

using i64 = std::int64_t;

template <class T>
T conjugate(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return std::conj(value);
}

template <class T>
struct operands_of {
  const T *values, *x;
  T *y, alpha, beta;
  explicit operands_of(const spmm_call& call)
      : values(static_cast<const T*>(call.values)),
        x(static_cast<const T*>(call.x)),
        y(static_cast<T*>(call.y)),
        alpha(value_of<T>(call.alpha)),
        beta(value_of<T>(call.beta)) {}
};

/// Y = beta Y, without reading it when beta is 0.
template <class T>
void scale(const operands_of<T>& o, i64 rows, i64 b, i64 ldy) {
  if (o.beta == T(1)) return;
  for (i64 row = 0; row < rows; ++row)
    for (T *y = o.y + row * ldy, *end = y + b; y != end; ++y) *y = o.beta == T(0) ? T(0) : product(o.beta, *y);
}

/// `Width` columns of one row of Y, kept in registers.
template <int Width, class T>
void one_row(const spmm_call& call, const operands_of<T>& o, i64 row, i64 q) {
  T sum[Width] = {};
  for (i64 e = call.row_starts[row]; e < call.row_starts[row + 1]; ++e) {
    const T* x = o.x + call.column_indices[e] * call.ldx + q;
    for (int k = 0; k < Width; ++k) sum[k] += product(o.values[e], x[k]);
  }
  T* y = o.y + row * call.ldy + q;
  for (int k = 0; k < Width; ++k)
    y[k] = o.beta == T(0) ? product(o.alpha, sum[k]) : product(o.alpha, sum[k]) + product(o.beta, y[k]);
}

template <class T>
void multiply(const spmm_call& call, const operands_of<T>& o) {
  for (i64 row = 0; row < call.rows; ++row) {
    i64 q = 0;
    for (; q + 16 <= call.b; q += 16) one_row<16>(call, o, row, q);
    if (q + 8 <= call.b) one_row<8>(call, o, row, q), q += 8;
    if (q + 4 <= call.b) one_row<4>(call, o, row, q), q += 4;
    if (q + 2 <= call.b) one_row<2>(call, o, row, q), q += 2;
    if (q < call.b) one_row<1>(call, o, row, q);
  }
}

/// Each row of X is added to the rows of Y that its elements name.
template <class T>
void multiply_transposed(const spmm_call& call, const operands_of<T>& o) {
  const bool conjugated = call.transpose == TSR_CONJUGATE_TRANSPOSE;
  scale(o, call.columns, call.b, call.ldy);
  for (i64 row = 0; row < call.rows; ++row) {
    const T* const x = o.x + row * call.ldx;
    for (i64 e = call.row_starts[row]; e < call.row_starts[row + 1]; ++e) {
      const T factor = product(o.alpha, conjugated ? conjugate(o.values[e]) : o.values[e]);
      T* const y = o.y + call.column_indices[e] * call.ldy;
      for (i64 q = 0; q < call.b; ++q) y[q] += product(factor, x[q]);
    }
  }
}

/// Y += alpha op(tile) X for one tile that lies at (row, column) of op(A); `height` and `width` are what of op(tile) is
/// in the matrix. Element (i, j) of op(tile) is at i * row_step + j * column_step.
template <class T>
void add_tile(const spmm_call& call, const operands_of<T>& o, const T* tile, i64 row, i64 column, i64 height, i64 width,
              i64 row_step, i64 column_step, bool conjugated) {
  for (i64 i = 0; i < height; ++i) {
    T* const y = o.y + (row + i) * call.ldy;
    for (i64 j = 0; j < width; ++j) {
      const T value = tile[i * row_step + j * column_step],
              factor = product(o.alpha, conjugated ? conjugate(value) : value);
      const T* const x = o.x + (column + j) * call.ldx;
      for (i64 q = 0; q < call.b; ++q) y[q] += product(factor, x[q]);
    }
  }
}

template <class T>
void multiply_tiles(const spmm_call& call, const operands_of<T>& o) {
  const bool transposed = call.transpose != TSR_NO_TRANSPOSE;
  const i64 h = call.tile_rows, w = call.tile_columns;
  scale(o, transposed ? call.columns : call.rows, call.b, call.ldy);
  for (i64 r = 0; r * h < call.rows; ++r)
    for (i64 e = call.row_starts[r]; e < call.row_starts[r + 1]; ++e) {
      const T* const tile = o.values + e * h * w;
      const i64 row = r * h, column = call.column_indices[e] * w;
      const i64 height = std::min(h, call.rows - row), width = std::min(w, call.columns - column);
      if (transposed)
        add_tile(call, o, tile, column, row, width, height, h, 1, call.transpose == TSR_CONJUGATE_TRANSPOSE);
      else
        add_tile(call, o, tile, row, column, height, width, 1, h, false);
    }
}

template <class T>
void run_typed(const spmm_call& call) {
  const operands_of<T> o(call);
  if (call.b == 0) return;
  const bool transposed = call.transpose != TSR_NO_TRANSPOSE;
  if (o.alpha == T(0)) return scale(o, transposed ? call.columns : call.rows, call.b, call.ldy);
  if (call.tile_rows != 1 || call.tile_columns != 1) return multiply_tiles(call, o);
  return transposed ? multiply_transposed(call, o) : multiply(call, o);
}

}  // namespace

tsr_status run(const spmm_call& call) {
  switch (call.type) {
    case TSR_F32:
      run_typed<float>(call);
      break;
    case TSR_F64:
      run_typed<double>(call);
      break;
    case TSR_C64:
      run_typed<std::complex<float>>(call);
      break;
    default:
      run_typed<std::complex<double>>(call);
      break;
  }
  return TSR_OK;
}

}  // namespace tessera::kit
