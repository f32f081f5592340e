#pragma once
// The inner loops of packed products, compiled once for each set of vector instructions (AVX2, AVX-512).
// This file is included by translation units with different compiler flags, so it holds no function with external
// linkage and uses no inline function of the standard library: the linker could keep one copy for everybody.
#include <cstdint>

namespace tessera::kit {

/// How four neighbouring lanes lie in memory.
enum class quad_kind : std::uint8_t {
  row,        ///< one behind the other
  pairs,      ///< two and two
  scattered,  ///< anywhere
  part        ///< there are fewer than four
};

/// Terms that are neighbours in memory.
struct packed_run {
  std::int32_t p, at, length;  ///< the first one, where it is, and how many: 4, 2 or 1
};

/// A matrix to be packed: element (lane, p) is from[lanes[lane] + sums[p]].
struct packed_source {
  const double* from;
  const std::int32_t* lanes;  ///< `count` of them
  const quad_kind* quads;     ///< of four lanes each
  std::int64_t count;
  const std::int32_t* sums;  ///< k of them
  const packed_run* runs;
  std::int64_t run_count, k;
};

/// C = alpha A B + beta C: element (i, j) is c[rows[i] + columns[j]]. With beta == 0 C is not read.
struct packed_target {
  double* c;
  const std::int32_t *rows, *columns;
  const quad_kind* quads;  ///< of four rows each
  std::int64_t m, n;
  double alpha, beta;
};

/// Memory that the next call is expected to read: while this one computes, it is asked for bit by bit.
struct packed_next {
  const char* first;
  const char* second;
  std::int64_t first_lines, second_lines;  ///< of 64 bytes
};

struct packed_kernels {
  std::int64_t rows, columns;  ///< of a full tile of C, so of a full panel
  std::int64_t min_rows;       ///< panels of A have multiples of it
  /// Panels of lanes_of_panel lanes; lane l of p lies at p * (lanes of the panel) + l. Lanes that are not there are 0.
  void (*pack)(const packed_source& source, std::int64_t width, std::int64_t least, double* to);
  /// All tiles of C, from panels of both.
  void (*multiply)(const double* a, const double* b, std::int64_t k, const packed_target& to, const packed_next& next);
};

/// Lanes of the next panel when so many are left: `width`, at the end fewer, a multiple of `least`. What is left over
/// two panels of two vectors share: one vector alone does not keep the processor's units busy.
inline constexpr std::int64_t lanes_of_panel(std::int64_t left, std::int64_t width, std::int64_t least) {
  if (width == 3 * least && left > width && left <= width + least) return 2 * least;
  return left >= width ? width : (left + least - 1) / least * least;
}

extern const packed_kernels packed_avx2;
extern const packed_kernels packed_avx512;

#if defined(__AVX2__)
namespace {

using quad = double __attribute__((vector_size(32), aligned(8), may_alias));
using pair = double __attribute__((vector_size(16), aligned(8), may_alias));
#if defined(__AVX512F__)
constexpr int lanes_of_vector = 8, full_columns = 8;
#else
constexpr int lanes_of_vector = 4, full_columns = 4;
#endif
constexpr int full_vectors = 3, few_columns = 4;
using vector = double __attribute__((vector_size(lanes_of_vector * 8), aligned(8), may_alias));

inline __attribute__((always_inline)) quad quad_at(const double* from) { return *reinterpret_cast<const quad*>(from); }
inline __attribute__((always_inline)) pair pair_at(const double* from) { return *reinterpret_cast<const pair*>(from); }
inline __attribute__((always_inline)) void put(double* to, const quad& four) { *reinterpret_cast<quad*>(to) = four; }
inline __attribute__((always_inline)) quad joined(const pair& low, const pair& high) {
  return __builtin_shufflevector(low, high, 0, 1, 2, 3);
}

/// Lanes one behind the other, all that a panel has; `Width` 0: not known when this is compiled.
template <int Width>
inline __attribute__((always_inline)) void pack_rows(const packed_source& s, const double* from, double* to,
                                                     std::int64_t width) {
  const std::int64_t step = Width != 0 ? Width : width, k = s.k;
  const std::int32_t* const sums = s.sums;  // what is put might be anything, so that the compiler would read it again
  for (std::int64_t p = 0; p < k; ++p, to += step)
    for (std::int64_t l = 0; l < step; l += 4) put(to + l, quad_at(from + sums[p] + l));
}

inline __attribute__((always_inline)) void pack_pairs(const packed_source& s, std::int64_t lane, double* to,
                                                      std::int64_t step) {
  const double *const low = s.from + s.lanes[lane], *const high = s.from + s.lanes[lane + 2];
  const std::int64_t k = s.k;
  const std::int32_t* const sums = s.sums;
#pragma GCC unroll 4
  for (std::int64_t p = 0; p < k; ++p, to += step) put(to, joined(pair_at(low + sums[p]), pair_at(high + sums[p])));
}

/// Lanes that lie anywhere; terms that are neighbours are read together and turned.
void pack_scattered(const packed_source& s, std::int64_t lane, double* to, std::int64_t step) {
  const double *const a = s.from + s.lanes[lane], *const b = s.from + s.lanes[lane + 1],
                      *const c = s.from + s.lanes[lane + 2], *const d = s.from + s.lanes[lane + 3];
  const packed_run* const runs = s.runs;
  const std::int64_t count = s.run_count;
  double* const begin = to;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int32_t at = runs[r].at, run = runs[r].length;
    to = begin + runs[r].p * step;
    if (run == 4) {
      const quad w = quad_at(a + at), x = quad_at(b + at), y = quad_at(c + at), z = quad_at(d + at);
      const quad even_low = __builtin_shufflevector(w, x, 0, 4, 2, 6),
                 odd_low = __builtin_shufflevector(w, x, 1, 5, 3, 7),
                 even_high = __builtin_shufflevector(y, z, 0, 4, 2, 6),
                 odd_high = __builtin_shufflevector(y, z, 1, 5, 3, 7);
      put(to, __builtin_shufflevector(even_low, even_high, 0, 1, 4, 5));
      put(to + step, __builtin_shufflevector(odd_low, odd_high, 0, 1, 4, 5));
      put(to + 2 * step, __builtin_shufflevector(even_low, even_high, 2, 3, 6, 7));
      put(to + 3 * step, __builtin_shufflevector(odd_low, odd_high, 2, 3, 6, 7));
    } else if (run == 2) {
      const pair w = pair_at(a + at), x = pair_at(b + at), y = pair_at(c + at), z = pair_at(d + at);
      put(to, joined(__builtin_shufflevector(w, x, 0, 2), __builtin_shufflevector(y, z, 0, 2)));
      put(to + step, joined(__builtin_shufflevector(w, x, 1, 3), __builtin_shufflevector(y, z, 1, 3)));
    } else {
      put(to, quad{a[at], b[at], c[at], d[at]});
    }
  }
}

void pack_part(const packed_source& s, std::int64_t lane, double* to, std::int64_t step) {
  for (std::int64_t p = 0; p < s.k; ++p, to += step)
    for (std::int64_t l = 0; l < 4; ++l) to[l] = lane + l < s.count ? s.from[s.lanes[lane + l] + s.sums[p]] : 0;
}

/// Whether lanes from `lane` on are one behind the other.
inline bool is_row(const packed_source& s, std::int64_t lane, std::int64_t width) {
  if (lane + width > s.count) return false;
  for (std::int64_t l = 0; l < width; l += 4)
    if (s.quads[(lane + l) / 4] != quad_kind::row || s.lanes[lane + l] != s.lanes[lane] + l) return false;
  return true;
}

void pack_panels(const packed_source& s, std::int64_t width, std::int64_t least, double* to) {
  constexpr int full_rows = full_vectors * lanes_of_vector;
  std::int64_t step = 0;
  for (std::int64_t lane = 0; lane < s.count; lane += step, to += step * s.k) {
    step = lanes_of_panel(s.count - lane, width, least);
    if (is_row(s, lane, step)) {
      const double* const from = s.from + s.lanes[lane];
      if (step == full_rows)
        pack_rows<full_rows>(s, from, to, step);
      else if (step == full_columns)
        pack_rows<full_columns>(s, from, to, step);
      else
        pack_rows<0>(s, from, to, step);
      continue;
    }
    for (std::int64_t l = 0; l < step; l += 4) {
      const quad_kind kind = lane + l < s.count ? s.quads[(lane + l) / 4] : quad_kind::part;
      if (kind == quad_kind::part)
        pack_part(s, lane + l, to + l, step);
      else if (kind == quad_kind::scattered)
        pack_scattered(s, lane + l, to + l, step);
      else
        pack_pairs(s, lane + l, to + l, step);
    }
  }
}

/// Numbers of C, one or a vector of them.
template <class Number>
inline __attribute__((always_inline)) void update(double* c, const Number& sum, double alpha, double beta) {
  Number& to = *reinterpret_cast<Number*>(c);
  to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
}

struct tile_of_c {
  std::int64_t row, rows, column, columns;
  bool rows_are_row;  ///< there are as many as the tile can have, one behind the other
};

/// A tile of C whose rows are not one behind the other, or not all there.
void store_apart(const double* sums, std::int64_t step, const packed_target& to, const tile_of_c& tile) {
  const std::int32_t* const columns = to.columns + tile.column;
  const double alpha = to.alpha, beta = to.beta;
  const std::int64_t count = tile.columns;
  for (std::int64_t i = 0; i < tile.rows; i += 4, sums += 4) {
    const std::int32_t* const at = to.rows + tile.row + i;
    double *const c = to.c + at[0], *const other = to.c + at[tile.rows - i < 4 ? 0 : 2];
    const quad_kind kind = to.quads[(tile.row + i) / 4];
    if (kind == quad_kind::row) {
      for (std::int64_t j = 0; j < count; ++j) update(c + columns[j], quad_at(sums + j * step), alpha, beta);
    } else if (kind == quad_kind::pairs) {
      for (std::int64_t j = 0; j < count; ++j) {
        update(c + columns[j], pair_at(sums + j * step), alpha, beta);
        update(other + columns[j], pair_at(sums + j * step + 2), alpha, beta);
      }
    } else {
      const std::int64_t rows = tile.rows - i < 4 ? tile.rows - i : 4;
      for (std::int64_t j = 0; j < count; ++j)
        for (std::int64_t l = 0; l < rows; ++l) update(to.c + at[l] + columns[j], sums[j * step + l], alpha, beta);
    }
  }
}

template <int Vectors, int Columns>
void multiply_tile(const double* a, const double* b, std::int64_t k, const packed_target& to, const tile_of_c& tile) {
  constexpr int height = Vectors * lanes_of_vector;
  vector sum[Columns][Vectors] = {};
#pragma GCC unroll 2
  for (std::int64_t p = 0; p < k; ++p, a += height, b += Columns) {
    vector x[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) x[v] = *reinterpret_cast<const vector*>(a + v * lanes_of_vector);
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[j][v] += x[v] * b[j];
  }
  if (tile.rows_are_row && tile.columns == Columns) {
    double* const c = to.c + to.rows[tile.row];
    const std::int32_t* const at = to.columns + tile.column;
    const double alpha = to.alpha, beta = to.beta;
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) update(c + at[j] + v * lanes_of_vector, sum[j][v], alpha, beta);
    return;
  }
  alignas(64) double sums[Columns * height];
#pragma GCC unroll 8
  for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) *reinterpret_cast<vector*>(sums + j * height + v * lanes_of_vector) = sum[j][v];
  store_apart(sums, height, to, tile);
}

template <int Columns>
void multiply_columns(int vectors, const double* a, const double* b, std::int64_t k, const packed_target& to,
                      const tile_of_c& tile) {
  if (vectors == 3)
    multiply_tile<3, Columns>(a, b, k, to, tile);
  else if (vectors == 2)
    multiply_tile<2, Columns>(a, b, k, to, tile);
  else
    multiply_tile<1, Columns>(a, b, k, to, tile);
}

/// Asks for lines from `done` on, `share` of them.
inline void ask_for(const char* memory, std::int64_t lines, std::int64_t& done, std::int64_t share) {
  for (const std::int64_t end = done + share < lines ? done + share : lines; done < end; ++done)
    __builtin_prefetch(memory + done * 64, 0, 2);
}

void multiply_panels(const double* a, const double* b, std::int64_t k, const packed_target& to,
                     const packed_next& next) {
  constexpr std::int64_t height = full_vectors * lanes_of_vector, width = full_columns;
  const std::int64_t tiles = ((to.m + height - 1) / height) * ((to.n + width - 1) / width);
  const std::int64_t first_share = (next.first_lines + tiles - 1) / tiles,
                     second_share = (next.second_lines + tiles - 1) / tiles;
  std::int64_t first = 0, second = 0;
  tile_of_c tile{};
  std::int64_t lanes = 0;
  for (tile.row = 0; tile.row < to.m; tile.row += lanes, a += lanes * k) {
    lanes = lanes_of_panel(to.m - tile.row, height, lanes_of_vector);
    tile.rows = to.m - tile.row < lanes ? to.m - tile.row : lanes;
    const int vectors = static_cast<int>(lanes / lanes_of_vector);
    tile.rows_are_row = tile.rows == vectors * lanes_of_vector;
    for (std::int64_t i = 1; tile.rows_are_row && i < tile.rows; ++i)
      tile.rows_are_row = to.rows[tile.row + i] == to.rows[tile.row] + i;
    const double* panel = b;
    for (tile.column = 0; tile.column < to.n; tile.column += width, panel += width * k) {
      tile.columns = to.n - tile.column < width ? to.n - tile.column : width;
      ask_for(next.first, next.first_lines, first, first_share);
      ask_for(next.second, next.second_lines, second, second_share);
      if (tile.columns <= few_columns)
        multiply_columns<few_columns>(vectors, a, panel, k, to, tile);
      else
        multiply_columns<full_columns>(vectors, a, panel, k, to, tile);
    }
  }
}

constexpr packed_kernels packed_kernels_of_this_unit = {full_vectors * lanes_of_vector, full_columns, lanes_of_vector,
                                                        pack_panels, multiply_panels};

}  // namespace
#endif

}  // namespace tessera::kit
