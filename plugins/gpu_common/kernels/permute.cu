// Permutations of dimensions: tiles through shared memory where rows become columns, so that both sides are read and
// written in runs; element by element where rows stay rows or are too short for tiles.
#include "plugins/gpu_common/kernels/numbers.hpp"
#include "plugins/gpu_common/kernels/tiles.hpp"

namespace tessera::gpu {
namespace {

constexpr unsigned threads = 256;
constexpr int edge = tile_edge, strips = 8;  // a tile is edge x edge, by edge x strips threads
constexpr int pitch = edge + 1;       // neighbours in a column are in different banks

struct word16 {
  std::uint64_t half[2];
};
/// The same sizes where the elements of 4 bytes that a word was made of do not lie where words must.
template <int count>
struct small_words {
  std::uint32_t part[count];
};

/// What becomes of an element on its way.
template <class T>
struct moved {
  __device__ void store(T* to, T value) const { *to = value; }
};
template <class T>
struct scaled {
  T alpha, beta;
  bool reads;
  __device__ void store(T* to, T value) const { *to = reads ? alpha * value + beta * *to : alpha * value; }
};

/// Places of combination `index` of the dimensions.
__device__ inline void locate(const dimensions& all, std::int64_t index, std::int64_t& from, std::int64_t& to) {
  for (int d = 0; d < all.count; ++d) {
    const std::int64_t at = index % all.extents[d];
    index /= all.extents[d];
    from += at * all.source[d];
    to += at * all.destination[d];
  }
}

template <class T, class Store>
__global__ void by_elements(dimensions all, std::int64_t count, Store store, const T* source, T* destination) {
  for (std::int64_t i = global_thread(); i < count; i += global_threads()) {
    std::int64_t from = 0, to = 0;
    locate(all, i, from, to);
    store.store(destination + to, source[from]);
  }
}

template <class T, class Store>
__global__ void __launch_bounds__(edge* strips) by_tiles(tiling t, Store store, const T* source, T* destination) {
  T* const kept = shared_memory<T>();
  const int column = static_cast<int>(thread_x()) % edge, strip = static_cast<int>(thread_x()) / edge;
  for (std::int64_t tile = block_x(); tile < t.tiles; tile += blocks_x()) {
    const std::int64_t x0 = tile % t.tiles_x * edge, y0 = tile / t.tiles_x % t.tiles_y * edge;
    std::int64_t from = 0, to = 0;
    locate(t.outer, tile / t.tiles_x / t.tiles_y, from, to);
    for (int y = strip; y < edge; y += strips)
      if (x0 + column < t.nx && y0 + y < t.ny) kept[y * pitch + column] = source[from + (y0 + y) * t.source_y + x0 + column];
    barrier();
    for (int x = strip; x < edge; x += strips)
      if (x0 + x < t.nx && y0 + column < t.ny)
        store.store(destination + to + (x0 + x) * t.destination_x + y0 + column, kept[column * pitch + x]);
    barrier();
  }
}

template <class T, class Store>
error_t run(const permutation& plan, Store store, const void* source, void* destination, stream_t stream) {
  const auto* const from = static_cast<const T*>(source);
  auto* const to = static_cast<T*>(destination);
  const tiling t = plan_tiles(plan);
  if (t.tiles == 0)
    return launch(&by_elements<T, Store>, {blocks_for(plan.elements, threads, 65536)}, {threads}, 0, stream, t.outer, plan.elements, store, from, to);
  return launch(&by_tiles<T, Store>, {blocks_for(t.tiles, 1, 65536)}, {edge * strips}, edge * pitch * sizeof(T), stream, t, store, from, to);
}

}  // namespace

error_t permute(const permutation& plan, tsr_type type, const void* alpha, const void* beta, const void* source,
                void* destination, stream_t stream) {
  if (plan.elements <= 0) return error_t{};
  if (alpha != nullptr)
    return with_any(type, [&](auto zero) {
      using T = decltype(zero);
      const T added = element<T>(beta);
      return run<T>(plan, scaled<T>{element<T>(alpha), added, !is_zero(added)}, source, destination, stream);
    });
  const auto move = [&](auto word) {
    using Word = decltype(word);
    return run<Word>(plan, moved<Word>{}, source, destination, stream);
  };
  const bool aligned = (reinterpret_cast<std::uintptr_t>(source) | reinterpret_cast<std::uintptr_t>(destination)) % 8 == 0;
  if (plan.element_bytes == 4) return move(std::uint32_t{});
  if (plan.element_bytes == 8) return aligned ? move(std::uint64_t{}) : move(small_words<2>{});
  return aligned ? move(word16{}) : move(small_words<4>{});
}

}  // namespace tessera::gpu
