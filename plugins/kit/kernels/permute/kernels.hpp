#pragma once
// The inner loops of permutations, compiled once for every x86-64 (or other) processor and once with AVX2.
// This file is included by two translation units with different compiler flags, so it holds no function with external
// linkage and uses no inline function of the standard library: the linker could keep the AVX2 copy for everybody.
#include <cstddef>
#include <cstdint>

namespace tessera::kit {

/// destination[x * destination_stride + y] = source[y * source_stride + x] for x < nx, y < ny; strides in elements.
using transpose_kernel = void (*)(const void* source, std::int64_t source_stride, void* destination,
                                  std::int64_t destination_stride, std::int64_t nx, std::int64_t ny);
/// destination[i] = alpha * source[i] + beta * destination[i], i < n; with *beta == 0 the destination is not read.
using scale_kernel = void (*)(const void* alpha, const void* beta, const void* source, void* destination,
                              std::int64_t n);

/// Row r of `rows`: `bytes` (a multiple of 4) from source + r * source_stride to destination + r * destination_stride;
/// strides in bytes. For rows so short that a call of memcpy for each would take longer than the copy.
using rows_kernel = void (*)(const void* source, std::int64_t source_stride, void* destination,
                             std::int64_t destination_stride, std::int64_t rows, std::int64_t bytes);

struct permute_kernels {
  transpose_kernel transpose4, transpose8, transpose16;  // by element size
  rows_kernel rows;
  scale_kernel scale[8];  // by tsr_type, F32 … I64; null elsewhere
};

extern const permute_kernels baseline_kernels;
extern const permute_kernels avx2_kernels;  // x86-64 only

namespace {

// Of elements that lie on 4 bytes: complex numbers of float32, and rows that move as one word.
struct word16 {
  std::uint64_t half[2];
} __attribute__((may_alias, packed, aligned(4)));
struct word8 {
  std::uint64_t value;
} __attribute__((may_alias, packed, aligned(4)));
struct word4 {
  std::uint32_t value;
} __attribute__((may_alias));

/// One square of `Side` elements a side. The loops have constant bounds, so the compiler unrolls and vectorises them.
template <class Word, int Side>
struct square {
  static inline __attribute__((always_inline)) void run(const Word* s, std::int64_t ss, Word* d, std::int64_t ds) {
    for (int x = 0; x < Side; ++x)
      for (int y = 0; y < Side; ++y) d[x * ds + y] = s[y * ss + x];
  }
};

#if defined(__AVX2__)
// Registers full of words; unaligned and free to alias anything.
using v4 = std::uint64_t __attribute__((vector_size(32), aligned(4), may_alias));
using v8 = std::uint32_t __attribute__((vector_size(32), aligned(4), may_alias));

/// 4 x 4 words of 8 bytes: two rounds of shuffles.
inline __attribute__((always_inline)) void quarter(const word8* s, std::int64_t ss, word8* d, std::int64_t ds) {
  const v4 a = *reinterpret_cast<const v4*>(s), b = *reinterpret_cast<const v4*>(s + ss);
  const v4 c = *reinterpret_cast<const v4*>(s + 2 * ss), e = *reinterpret_cast<const v4*>(s + 3 * ss);
  const v4 p = __builtin_shufflevector(a, b, 0, 4, 2, 6), q = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const v4 r = __builtin_shufflevector(c, e, 0, 4, 2, 6), t = __builtin_shufflevector(c, e, 1, 5, 3, 7);
  *reinterpret_cast<v4*>(d) = __builtin_shufflevector(p, r, 0, 1, 4, 5);
  *reinterpret_cast<v4*>(d + ds) = __builtin_shufflevector(q, t, 0, 1, 4, 5);
  *reinterpret_cast<v4*>(d + 2 * ds) = __builtin_shufflevector(p, r, 2, 3, 6, 7);
  *reinterpret_cast<v4*>(d + 3 * ds) = __builtin_shufflevector(q, t, 2, 3, 6, 7);
}

template <>
struct square<word8, 4> {
  static inline __attribute__((always_inline)) void run(const word8* s, std::int64_t ss, word8* d, std::int64_t ds) {
    quarter(s, ss, d, ds);
  }
};

template <>
struct square<word8, 8> {
  static inline __attribute__((always_inline)) void run(const word8* s, std::int64_t ss, word8* d, std::int64_t ds) {
    quarter(s, ss, d, ds);
    quarter(s + 4 * ss, ss, d + 4, ds);
    quarter(s + 4, ss, d + 4 * ds, ds);
    quarter(s + 4 * ss + 4, ss, d + 4 * ds + 4, ds);
  }
};

/// 8 x 8 words of 4 bytes: three rounds of shuffles.
inline __attribute__((always_inline)) void octet(const word4* s, std::int64_t ss, word4* d, std::int64_t ds) {
  v8 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = *reinterpret_cast<const v8*>(s + i * ss);
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 2; ++i) {
    r[4 * i] = __builtin_shufflevector(t[4 * i], t[4 * i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    r[4 * i + 1] = __builtin_shufflevector(t[4 * i], t[4 * i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    r[4 * i + 2] = __builtin_shufflevector(t[4 * i + 1], t[4 * i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    r[4 * i + 3] = __builtin_shufflevector(t[4 * i + 1], t[4 * i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<v8*>(d + i * ds) = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *reinterpret_cast<v8*>(d + (i + 4) * ds) = __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

template <>
struct square<word4, 8> {
  static inline __attribute__((always_inline)) void run(const word4* s, std::int64_t ss, word4* d, std::int64_t ds) {
    octet(s, ss, d, ds);
  }
};

template <>
struct square<word4, 16> {
  static inline __attribute__((always_inline)) void run(const word4* s, std::int64_t ss, word4* d, std::int64_t ds) {
    octet(s, ss, d, ds);
    octet(s + 8 * ss, ss, d + 8, ds);
    octet(s + 8, ss, d + 8 * ds, ds);
    octet(s + 8 * ss + 8, ss, d + 8 * ds + 8, ds);
  }
};
#endif

/// A strip that is too narrow for full squares: smaller squares, then single elements.
template <class Word, int Side>
void strip(const Word* s, std::int64_t ss, Word* d, std::int64_t ds, std::int64_t nx, std::int64_t ny) {
  const std::int64_t full_x = nx / Side * Side, full_y = ny / Side * Side;
  for (std::int64_t x = 0; x < full_x; x += Side)
    for (std::int64_t y = 0; y < full_y; y += Side) square<Word, Side>::run(s + y * ss + x, ss, d + x * ds + y, ds);
  for (std::int64_t x = 0; x < full_x; ++x)
    for (std::int64_t y = full_y; y < ny; ++y) d[x * ds + y] = s[y * ss + x];
  for (std::int64_t x = full_x; x < nx; ++x)
    for (std::int64_t y = 0; y < ny; ++y) d[x * ds + y] = s[y * ss + x];
}

/// Squares whose rows are one cache line, in bands of 64 source rows so that the pages in use stay few.
template <class Word>
void transpose(const void* source, std::int64_t ss, void* destination, std::int64_t ds, std::int64_t nx,
               std::int64_t ny) {
  constexpr int side = 64 / static_cast<int>(sizeof(Word));
  constexpr std::int64_t band = 64;
  const auto* s = static_cast<const Word*>(source);
  auto* d = static_cast<Word*>(destination);
  const std::int64_t full_x = nx / side * side, full_y = ny / side * side;
  for (std::int64_t y0 = 0; y0 < full_y; y0 += band) {
    const std::int64_t y1 = y0 + band < full_y ? y0 + band : full_y;
    for (std::int64_t x = 0; x < full_x; x += side)
      for (std::int64_t y = y0; y < y1; y += side) square<Word, side>::run(s + y * ss + x, ss, d + x * ds + y, ds);
  }
  if (full_y < ny) strip<Word, side / 2>(s + full_y * ss, ss, d + full_y, ds, full_x, ny - full_y);
  if (full_x < nx) strip<Word, side / 2>(s + full_x, ss, d + full_x * ds, ds, nx - full_x, ny);
}

#if defined(__AVX2__)
using wide = v4;
#else
using wide = std::uint64_t __attribute__((vector_size(16), aligned(4), may_alias));
#endif

void copy_rows(const void* source, std::int64_t ss, void* destination, std::int64_t ds, std::int64_t rows,
               std::int64_t bytes) {
  constexpr std::int64_t step = sizeof(wide);
  const auto* s = static_cast<const char*>(source);
  auto* d = static_cast<char*>(destination);
  for (std::int64_t r = 0; r < rows; ++r, s += ss, d += ds) {
    std::int64_t at = 0;
    for (; at + step <= bytes; at += step) *reinterpret_cast<wide*>(d + at) = *reinterpret_cast<const wide*>(s + at);
    for (; at + 8 <= bytes; at += 8) *reinterpret_cast<word8*>(d + at) = *reinterpret_cast<const word8*>(s + at);
    if (at < bytes) *reinterpret_cast<word4*>(d + at) = *reinterpret_cast<const word4*>(s + at);
  }
}

template <class Real>
void scale_real(const void* alpha, const void* beta, const void* source, void* destination, std::int64_t n) {
  const Real a = *static_cast<const Real*>(alpha), b = *static_cast<const Real*>(beta);
  const auto* __restrict s = static_cast<const Real*>(source);
  auto* __restrict d = static_cast<Real*>(destination);
  if (b == Real(0))
    for (std::int64_t i = 0; i < n; ++i) d[i] = static_cast<Real>(a * s[i]);
  else
    for (std::int64_t i = 0; i < n; ++i) d[i] = static_cast<Real>(a * s[i] + b * d[i]);
}

/// Pairs (real, imaginary), multiplied by the textbook formula: no special cases for infinities, so it vectorises.
template <class Real>
void scale_complex(const void* alpha, const void* beta, const void* source, void* destination, std::int64_t n) {
  const auto *pa = static_cast<const Real*>(alpha), *pb = static_cast<const Real*>(beta);
  const Real ar = pa[0], ai = pa[1], br = pb[0], bi = pb[1];
  const auto* __restrict s = static_cast<const Real*>(source);
  auto* __restrict d = static_cast<Real*>(destination);
  if (br == Real(0) && bi == Real(0)) {
    for (std::int64_t i = 0; i < n; ++i) {
      const Real re = s[2 * i], im = s[2 * i + 1];
      d[2 * i] = ar * re - ai * im;
      d[2 * i + 1] = ar * im + ai * re;
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const Real re = s[2 * i], im = s[2 * i + 1], old_re = d[2 * i], old_im = d[2 * i + 1];
    d[2 * i] = ar * re - ai * im + (br * old_re - bi * old_im);
    d[2 * i + 1] = ar * im + ai * re + (br * old_im + bi * old_re);
  }
}

constexpr permute_kernels kernels_of_this_unit = {
    transpose<word4>,
    transpose<word8>,
    transpose<word16>,
    copy_rows,
    {nullptr, scale_real<float>, scale_real<double>, scale_complex<float>, scale_complex<double>,
     // Integers wrap around as unsigned ones: overflow is no undefined behaviour.
     scale_real<std::uint32_t>, scale_real<std::uint64_t>, nullptr},
};

}  // namespace
}  // namespace tessera::kit
