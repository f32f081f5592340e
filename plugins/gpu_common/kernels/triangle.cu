// One block of a triangular system, and the Cholesky factor of one block, in shared memory.
#include <cmath>

#include "plugins/gpu_common/kernels/matrix.hpp"

namespace tessera::gpu {
namespace {

constexpr int pitch = panel + 1;
constexpr unsigned solve_threads = 128, factor_threads = 256;

/// X(rows x columns) = alpha L^-1 X for one block of L; a thread has a column.
template <class T>
__global__ void __launch_bounds__(solve_threads) solve_block(int rows, std::int64_t columns, T alpha, view<T> l, bool unit_diagonal, view<T> x) {
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
__global__ void __launch_bounds__(factor_threads) factor_block(int n, std::int64_t before, view<T> a, std::int32_t* info) {
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

}  // namespace

error_t solve_panel(tsr_type type, int rows, std::int64_t columns, const void* alpha, const matrix& l, bool unit_diagonal,
                    const matrix& x, stream_t stream) {
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    return launch(&solve_block<T>, {blocks_for(columns, solve_threads, 0x7fffffff)}, {solve_threads}, panel * pitch * sizeof(T), stream,
                  rows, columns, element<T>(alpha), view_of<T>(l), unit_diagonal, view_of<T>(x));
  });
}

error_t factor_panel(tsr_type type, int n, std::int64_t before, const matrix& a, std::int32_t* info, stream_t stream) {
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    return launch(&factor_block<T>, {1}, {factor_threads}, panel * pitch * sizeof(T), stream, n, before, view_of<T>(a), info);
  });
}

}  // namespace tessera::gpu
