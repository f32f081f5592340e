// Triangular systems and Cholesky factors, in panels: a small block is done in shared memory, products do the rest.
#include <cmath>

#include "plugins/gpu_common/kernels/matrix.hpp"

namespace tessera::gpu {
namespace {

constexpr int panel = 32;
constexpr int pitch = panel + 1;
constexpr unsigned solve_threads = 128, factor_threads = 256;

/// X(rows x columns) = alpha L^-1 X for one block of L; a thread has a column.
template <class T>
__global__ void __launch_bounds__(solve_threads) solve_panel(int rows, std::int64_t columns, T alpha, view<T> l, bool unit_diagonal, view<T> x) {
  T* const kept = shared_memory<T>();
  for (unsigned at = thread_x(); at < panel * panel; at += threads_x()) {
    const int row = static_cast<int>(at) % panel, column = static_cast<int>(at) / panel;
    if (row < rows && column <= row && !(unit_diagonal && row == column)) kept[row * pitch + column] = l.read(row, column);
  }
  barrier();
  const std::int64_t column = global_thread();
  if (column >= columns) return;
  T solved[panel];
  for (int i = 0; i < rows; ++i) {
    T value = alpha * x.read(i, column);
    for (int j = 0; j < i; ++j) value = value - kept[i * pitch + j] * solved[j];
    if (!unit_diagonal) value = value / kept[i * pitch + i];
    solved[i] = value;
    *x.at(i, column) = value;
  }
}

/// The Cholesky factor of one block, by one block of threads. Does nothing after a bad pivot in a block before.
template <class T>
__global__ void __launch_bounds__(factor_threads) factor_panel(int n, std::int64_t before, view<T> a, std::int32_t* info) {
  using R = typename traits<T>::real;
  T* const kept = shared_memory<T>();
  const int number = static_cast<int>(thread_x());
  const bool spoilt = *info != 0;
  barrier();  // everybody has read it before thread 0 may write it
  if (spoilt) return;
  for (int at = number; at < n * n; at += static_cast<int>(threads_x()))
    if (at % n >= at / n) kept[at % n * pitch + at / n] = *a.at(at % n, at / n);
  barrier();
  for (int j = 0; j < n; ++j) {
    const R pivot = real_part(kept[j * pitch + j]);
    if (!(pivot > 0)) {  // also what is not a number
      if (number == 0) *info = static_cast<std::int32_t>(before + j + 1);
      return;  // all threads have read the same pivot
    }
    const R root = sqrt(pivot);
    barrier();
    for (int i = j + number; i < n; i += static_cast<int>(threads_x()))
      kept[i * pitch + j] = i == j ? from_real<T>(root) : kept[i * pitch + j] / from_real<T>(root);
    barrier();
    const int left = n - j - 1;
    for (int at = number; at < left * left; at += static_cast<int>(threads_x())) {
      const int row = j + 1 + at % left, column = j + 1 + at / left;
      if (row >= column)
        kept[row * pitch + column] = kept[row * pitch + column] - kept[row * pitch + j] * conjugate(kept[column * pitch + j]);
    }
    barrier();
  }
  for (int at = number; at < n * n; at += static_cast<int>(threads_x()))
    if (at % n >= at / n) *a.at(at % n, at / n) = kept[at % n * pitch + at / n];
}

__global__ void clear(std::int32_t* info) { *info = 0; }

template <class T>
error_t solve(tsr_type type, std::int64_t n, std::int64_t columns, const void* alpha, const matrix& l, bool unit_diagonal,
              const matrix& x, stream_t stream) {
  const T one = from_real<T>(1), minus_one = from_real<T>(-1);
  T factor = element<T>(alpha);
  for (std::int64_t begin = 0; begin < n; begin += panel) {
    const std::int64_t rows = n - begin < panel ? n - begin : panel, left = n - begin - rows;
    const matrix block = part_of(x, sizeof(T), begin, 0);
    error_t error = launch(&solve_panel<T>, {blocks_for(columns, solve_threads, 0x7fffffff)}, {solve_threads}, panel * pitch * sizeof(T), stream,
                           static_cast<int>(rows), columns, factor, view_of<T>(part_of(l, sizeof(T), begin, begin)), unit_diagonal,
                           view_of<T>(block));
    if (kind_of(error) != error_kind::none) return error;
    // What is left of X is multiplied by alpha on the way, once.
    product rest{type, left, columns, rows, &minus_one, &factor, part_of(l, sizeof(T), begin + rows, begin), block,
                 part_of(x, sizeof(T), begin + rows, 0)};
    if (left > 0) error = multiply(rest, stream);
    if (kind_of(error) != error_kind::none) return error;
    factor = one;
  }
  return error_t{};
}

template <class T>
error_t factor(tsr_type type, std::int64_t n, const matrix& a, std::int32_t* info, stream_t stream) {
  const T one = from_real<T>(1), minus_one = from_real<T>(-1);
  error_t error = launch(&clear, {1}, {1}, 0, stream, info);
  for (std::int64_t begin = 0; begin < n && kind_of(error) == error_kind::none; begin += panel) {
    const std::int64_t rows = n - begin < panel ? n - begin : panel, left = n - begin - rows;
    const matrix block = part_of(a, sizeof(T), begin, begin);
    error = launch(&factor_panel<T>, {1}, {factor_threads}, panel * pitch * sizeof(T), stream, static_cast<int>(rows), begin,
                   view_of<T>(block), info);
    if (left == 0 || kind_of(error) != error_kind::none) continue;
    // Below: P L^H = A, so conj(L) P^T = A^T; then the rest loses P P^H.
    const matrix below = part_of(a, sizeof(T), begin + rows, begin);
    matrix triangle = block, other = below.transposed();
    triangle.conjugated = other.conjugated = true;
    error = solve<T>(type, rows, left, &one, triangle, false, below.transposed(), stream);
    if (kind_of(error) != error_kind::none) continue;
    product rest{type, left, left, rows, &minus_one, &one, below, other, part_of(a, sizeof(T), begin + rows, begin + rows)};
    rest.lower = true;
    error = multiply(rest, stream);
  }
  return error;
}

}  // namespace

error_t solve_lower(tsr_type type, std::int64_t n, std::int64_t columns, const void* alpha, const matrix& l, bool unit_diagonal,
                    const matrix& x, stream_t stream) {
  if (n <= 0 || columns <= 0) return error_t{};
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    if (!is_zero(element<T>(alpha))) return solve<T>(type, n, columns, alpha, l, unit_diagonal, x, stream);
    // X = 0, without a look at L.
    return multiply({type, n, columns, 0, alpha, alpha, x, x, x}, stream);
  });
}

error_t factor_lower(tsr_type type, std::int64_t n, const matrix& a, std::int32_t* info, stream_t stream) {
  return with_number(type, [&](auto zero) { return factor<decltype(zero)>(type, n, a, info, stream); });
}

}  // namespace tessera::gpu
