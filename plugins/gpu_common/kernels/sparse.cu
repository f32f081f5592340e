// Products of a sparse matrix with a block of vectors. Threads beside each other take columns of Y, whose rows lie side by
// side; where rows are long, several threads share one and add up in shared memory.
#include "plugins/gpu_common/kernels/numbers.hpp"
#include "plugins/gpu_common/kernels/sparse_kernels.hpp"

namespace tessera::gpu {
namespace {

constexpr unsigned threads = 256;

template <class T>
struct arguments {
  std::int64_t rows;
  const std::int64_t* starts;
  const std::int32_t* columns;
  const std::int64_t* order;
  const T* values;
  bool conjugated, reads;  // whether A and X are
  tile_shape tile;
  std::int64_t across;  // columns of A
  std::int64_t b;
  const T* x;
  std::int64_t ldx;
  T* y;
  std::int64_t ldy;
  T alpha, beta;
  sharing shared;
};

/// The sum of the elements that one thread of a row has, for column q.
template <class T>
__device__ T own_sum(const arguments<T>& g, std::int64_t begin, std::int64_t end, unsigned step, std::int64_t q) {
  T sum = from_real<T>(0);
  for (std::int64_t e = begin; e < end; e += step) {
    const T value = g.values[g.order != nullptr ? g.order[e] : e];
    sum = sum + (g.conjugated ? conjugate(value) : value) * g.x[g.columns[e] * g.ldx + q];
  }
  return sum;
}

/// The same for a row within tiles: `row` of those tiles, whose elements one after the other are the row's.
template <class T>
__device__ T own_sum_of_tiles(const arguments<T>& g, std::int64_t row, std::int64_t begin, std::int64_t end, unsigned lane, unsigned step,
                              std::int64_t q) {
  const std::int64_t width = g.tile.columns, elements = g.tile.rows * width;
  T sum = from_real<T>(0);
  for (std::int64_t k = lane; k < (end - begin) * width; k += step) {
    const std::int64_t e = begin + k / width, j = k % width, column = g.columns[e] * width + j;
    if (column >= g.across) continue;
    const T value = g.values[(g.order != nullptr ? g.order[e] : e) * elements + row * g.tile.row_step + j * g.tile.column_step];
    sum = sum + (g.conjugated ? conjugate(value) : value) * g.x[column * g.ldx + q];
  }
  return sum;
}

template <class T, bool Tiled>
__global__ void __launch_bounds__(threads) multiply_rows(arguments<T> g) {
  T* const all = shared_memory<T>();
  const unsigned wide = g.shared.wide, deep = g.shared.deep, at_once = threads / (wide * deep);
  const unsigned across = thread_x() % wide, lane = thread_x() / wide % deep, slot = thread_x() / (wide * deep);
  const bool reads_y = !is_zero(g.beta);
  for (std::int64_t first = std::int64_t{block_x()} * at_once; first < g.rows; first += std::int64_t{blocks_x()} * at_once) {
    const std::int64_t row = first + slot;
    const bool inside = row < g.rows;
    const std::int64_t line = Tiled ? row / g.tile.rows : row;
    const std::int64_t begin = inside && g.reads ? g.starts[line] : 0, end = inside && g.reads ? g.starts[line + 1] : 0;
    for (std::int64_t q0 = 0; q0 < g.b; q0 += wide) {
      const std::int64_t q = q0 + across;
      T sum = from_real<T>(0);
      if (q < g.b)
        sum = Tiled ? own_sum_of_tiles(g, row - line * g.tile.rows, begin, end, lane, deep, q) : own_sum(g, begin + lane, end, deep, q);
      if (deep > 1) {
        all[thread_x()] = sum;
        for (unsigned half = deep / 2; half > 0; half /= 2) {
          barrier();
          if (lane < half) all[thread_x()] = all[thread_x()] + all[thread_x() + half * wide];
        }
        sum = all[thread_x()];
        barrier();  // before the next sums are written
      }
      if (lane != 0 || !inside || q >= g.b) continue;
      T* const to = g.y + row * g.ldy + q;
      *to = reads_y ? g.alpha * sum + g.beta * *to : g.alpha * sum;
    }
  }
}

}  // namespace

error_t multiply_sparse(const sparse_product& p, stream_t stream) {
  if (p.a.rows <= 0 || p.b <= 0) return error_t{};
  return with_number(p.type, [&](auto zero) {
    using T = decltype(zero);
    const T alpha = element<T>(p.alpha);
    const sharing shared = share_rows(p, threads);
    const arguments<T> g{p.a.rows, p.a.starts, p.a.columns, p.a.order, static_cast<const T*>(p.a.values), p.a.conjugated,
                         !is_zero(alpha), p.a.tile, p.a.across, p.b, static_cast<const T*>(p.x), p.ldx, static_cast<T*>(p.y), p.ldy, alpha,
                         element<T>(p.beta), shared};
    return launch(p.a.tile.is_element() ? &multiply_rows<T, false> : &multiply_rows<T, true>, {blocks_for(p.a.rows, threads / (shared.wide * shared.deep))}, {threads},
                  threads * sizeof(T), stream, g);
  });
}

}  // namespace tessera::gpu
