// Products with sparse matrices on the processor, by one thread.
#include <algorithm>
#include <complex>

#include "plugins/common/numbers.hpp"
#include "plugins/common/sparse_call.hpp"

namespace tessera::common {
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
      : values(static_cast<const T*>(call.values)), x(static_cast<const T*>(call.x)), y(static_cast<T*>(call.y)),
        alpha(value_of<T>(call.alpha)), beta(value_of<T>(call.beta)) {}
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

template <class T>
void run_typed(const spmm_call& call) {
  const operands_of<T> o(call);
  if (call.b == 0) return;
  const bool transposed = call.transpose != TSR_NO_TRANSPOSE;
  if (o.alpha == T(0)) return scale(o, transposed ? call.columns : call.rows, call.b, call.ldy);
  return transposed ? multiply_transposed(call, o) : multiply(call, o);
}

}  // namespace

tsr_status run(const spmm_call& call) {
  switch (call.type) {
    case TSR_F32: run_typed<float>(call); break;
    case TSR_F64: run_typed<double>(call); break;
    case TSR_C64: run_typed<std::complex<float>>(call); break;
    default: run_typed<std::complex<double>>(call); break;
  }
  return TSR_OK;
}

}  // namespace tessera::common
