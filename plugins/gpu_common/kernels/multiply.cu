// Products of matrices: square tiles of C, each thread a few elements of it, A and B through shared memory. What there is
// where no vendor's library is found.
#include "plugins/gpu_common/kernels/matrix.hpp"

namespace tessera::gpu {
namespace {

constexpr unsigned side = 16;   // threads along an edge of a tile
constexpr unsigned depth = 16;  // columns of A and rows of B at a time
/// Elements along an edge of a tile. Two tiles of A and B fit into 48 KiB with every type.
template <class T>
constexpr unsigned edge = sizeof(T) <= 8 ? 64 : 32;
/// One more than the edge: neighbours in a column are in different banks.
template <class T>
constexpr unsigned pitch = edge<T> + 1;

/// Matrices of a batch that have no step: as many as one launch takes.
struct triples {
  static constexpr std::int64_t most = 32;
  void* at[most][3];
};

template <class T>
struct arguments {
  std::int64_t m, n, k;
  T alpha, beta;
  view<T> a, b, c;
  bool lower;
  std::int64_t step_a, step_b, step_c;  // bytes
};

template <class T>
__device__ T* moved(T* data, std::int64_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(data) + bytes);
}

/// Element (row, column) of a tile whose rows lie side by side in memory, or else whose columns do: neighbouring threads
/// read neighbouring elements.
__device__ inline void spread(unsigned number, bool rows_adjacent, unsigned rows, unsigned columns, unsigned& row, unsigned& column) {
  if (rows_adjacent) {
    row = number % rows;
    column = number / rows;
  } else {
    row = number / columns;
    column = number % columns;
  }
}

template <class T>
__device__ void one_tile(const arguments<T>& g) {
  constexpr unsigned each = edge<T> / side;
  const std::int64_t tiles_down = (g.m + edge<T> - 1) / edge<T>;
  const std::int64_t row0 = block_x() % tiles_down * edge<T>, column0 = block_x() / tiles_down * edge<T>;
  if (g.lower && row0 + edge<T> <= column0) return;
  T* const tile_a = shared_memory<T>();             // [depth][pitch], by column
  T* const tile_b = tile_a + depth * pitch<T>;      // [depth][pitch], by row
  const unsigned number = thread_x(), down = number % side, across = number / side;
  const bool a_down = g.a.row_step == 1 || g.a.row_step == -1, b_down = g.b.row_step == 1 || g.b.row_step == -1;
  T sum[each][each];
  for (unsigned i = 0; i < each; ++i)
    for (unsigned j = 0; j < each; ++j) sum[i][j] = from_real<T>(0);
  for (std::int64_t k0 = 0; k0 < g.k; k0 += depth) {
    for (unsigned at = number; at < edge<T> * depth; at += side * side) {
      unsigned row = 0, column = 0;
      spread(at, a_down, edge<T>, depth, row, column);
      const bool inside = row0 + row < g.m && k0 + column < g.k;
      tile_a[column * pitch<T> + row] = inside ? g.a.read(row0 + row, k0 + column) : from_real<T>(0);
      spread(at, b_down, depth, edge<T>, row, column);
      const bool in_b = k0 + row < g.k && column0 + column < g.n;
      tile_b[row * pitch<T> + column] = in_b ? g.b.read(k0 + row, column0 + column) : from_real<T>(0);
    }
    barrier();
    for (unsigned p = 0; p < depth; ++p) {
      T a[each], b[each];
      for (unsigned i = 0; i < each; ++i) a[i] = tile_a[p * pitch<T> + down + i * side];
      for (unsigned j = 0; j < each; ++j) b[j] = tile_b[p * pitch<T> + across + j * side];
      for (unsigned i = 0; i < each; ++i)
        for (unsigned j = 0; j < each; ++j) sum[i][j] = sum[i][j] + a[i] * b[j];
    }
    barrier();
  }
  const bool reads = !is_zero(g.beta);
  for (unsigned j = 0; j < each; ++j)
    for (unsigned i = 0; i < each; ++i) {
      const std::int64_t row = row0 + down + i * side, column = column0 + across + j * side;
      if (row >= g.m || column >= g.n || (g.lower && row < column)) continue;
      T* const to = g.c.at(row, column);
      *to = reads ? g.alpha * sum[i][j] + g.beta * *to : g.alpha * sum[i][j];
    }
}

template <class T>
__global__ void __launch_bounds__(side* side) multiply_strided(arguments<T> g) {
  const std::int64_t number = block_y();
  g.a.data = moved(g.a.data, number * g.step_a);
  g.b.data = moved(g.b.data, number * g.step_b);
  g.c.data = moved(g.c.data, number * g.step_c);
  one_tile(g);
}

template <class T>
__global__ void __launch_bounds__(side* side) multiply_each(arguments<T> g, triples data) {
  g.a.data = static_cast<T*>(data.at[block_y()][0]);
  g.b.data = static_cast<T*>(data.at[block_y()][1]);
  g.c.data = static_cast<T*>(data.at[block_y()][2]);
  one_tile(g);
}

template <class T>
error_t multiply_all(const product& p, stream_t stream) {
  arguments<T> g{p.m, p.n, p.k, element<T>(p.alpha), element<T>(p.beta), view_of<T>(p.a), view_of<T>(p.b), view_of<T>(p.c),
                 p.lower, p.step_a, p.step_b, p.step_c};
  if (is_zero(g.alpha)) g.k = 0;
  constexpr std::size_t shared = 2 * depth * pitch<T> * sizeof(T);
  const std::int64_t tiles = ((p.m + edge<T> - 1) / edge<T>) * ((p.n + edge<T> - 1) / edge<T>);
  constexpr std::int64_t most = 65535;
  for (std::int64_t begin = 0; begin < p.batch;) {
    const std::int64_t some = p.batch - begin < (p.pointers ? triples::most : most) ? p.batch - begin : (p.pointers ? triples::most : most);
    const extent3 grid{static_cast<unsigned>(tiles), static_cast<unsigned>(some)};
    error_t error;
    if (p.pointers != nullptr) {
      triples data = {};
      for (std::int64_t i = 0; i < some; ++i)
        for (int which = 0; which < 3; ++which) data.at[i][which] = p.pointers[begin + i][which];
      error = launch(&multiply_each<T>, grid, {side * side}, shared, stream, g, data);
    } else {
      error = launch(&multiply_strided<T>, grid, {side * side}, shared, stream, g);
      g.a.data = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(g.a.data) + static_cast<std::uintptr_t>(some * p.step_a));
      g.b.data = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(g.b.data) + static_cast<std::uintptr_t>(some * p.step_b));
      g.c.data = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(g.c.data) + static_cast<std::uintptr_t>(some * p.step_c));
    }
    if (kind_of(error) != error_kind::none) return error;
    begin += some;
  }
  return error_t{};
}

}  // namespace

error_t multiply(const product& p, stream_t stream) {
  if (p.m <= 0 || p.n <= 0 || p.batch <= 0) return error_t{};
  return with_number(p.type, [&](auto zero) { return multiply_all<decltype(zero)>(p, stream); });
}

}  // namespace tessera::gpu
