#include "core/bytes/copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tessera {

// The thread sanitizer knows what memcpy reads and writes, and not what vector instructions do.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
namespace {

constexpr std::size_t line = 64, vector = 32, vectors = 4, step = vectors * vector;

__attribute__((target("avx2"))) inline void take(__m256i (&taken)[vectors], const std::byte* from) noexcept {
  for (std::size_t k = 0; k < vectors; ++k)
    taken[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k * vector));
}

template <bool past_caches>
__attribute__((target("avx2"))) inline void put(std::byte* to, const __m256i (&taken)[vectors]) noexcept {
  for (std::size_t k = 0; k < vectors; ++k) {
    auto* const place = reinterpret_cast<__m256i*>(to + k * vector);
    if constexpr (past_caches)
      _mm256_stream_si256(place, taken[k]);
    else
      _mm256_store_si256(place, taken[k]);
  }
}

__attribute__((target("avx2"))) inline void copy_unaligned(std::byte* to, const std::byte* from,
                                                           std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += vector)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
}

/// Each step is read before the one in front of it is written. Else reads come right behind a write whose place differs
/// by whole pages and a few bytes: processors compare the low bits first, and wait. Vectors of 256 bits, not 512: those
/// are slower where the destination is in no cache, and no faster from the second cache on.
template <bool past_caches>
__attribute__((target("avx2"))) void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::byte* const end = to + bytes;
  const std::byte* const from_end = from + bytes;
  // Up to a line of the destination, and at the end: what is written twice is the same.
  copy_unaligned(to, from, line);
  const std::size_t ahead = line - reinterpret_cast<std::uintptr_t>(to) % line;
  to += ahead, from += ahead;
  __m256i even[vectors], odd[vectors];
  take(even, from);
  for (; static_cast<std::size_t>(end - to) >= 3 * step; to += 2 * step, from += 2 * step) {
    take(odd, from + step);
    put<past_caches>(to, even);
    take(even, from + 2 * step);
    put<past_caches>(to + step, odd);
  }
  put<past_caches>(to, even);
  copy_unaligned(end - 2 * step, from_end - 2 * step, 2 * step);
  if constexpr (past_caches) _mm_sfence();  // before whatever tells others that the bytes are there
}

constexpr std::array vector_loops = {copy_loop{"avx2", 3 * step, copy_by_vectors<false>},
                                     copy_loop{"avx2 past caches", 3 * step, copy_by_vectors<true>}};

}  // namespace

std::span<const copy_loop> copy_loops() noexcept {
  static const bool can = __builtin_cpu_supports("avx2") != 0;
  return can ? std::span<const copy_loop>(vector_loops) : std::span<const copy_loop>();
}

#else

std::span<const copy_loop> copy_loops() noexcept { return {}; }

#endif

namespace {

// Below this glibc's memcpy copies by vectors itself, whatever their width.
constexpr std::size_t min_for_loops = 2048;

}  // namespace

std::size_t min_past_caches() noexcept {
  static const std::size_t bytes = [] {
    const long second = ::sysconf(_SC_LEVEL2_CACHE_SIZE);  // 0 where the system does not say
    return std::max(second > 0 ? static_cast<std::size_t>(second) : std::size_t{1} << 20, min_for_loops);
  }();
  return bytes;
}

void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  const auto loops = bytes < min_for_loops ? std::span<const copy_loop>() : copy_loops();
  if (loops.empty()) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  loops[bytes < min_past_caches() ? 0 : 1].run(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
}

void move_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  const auto there = reinterpret_cast<std::uintptr_t>(to), here = reinterpret_cast<std::uintptr_t>(from);
  const bool apart = there >= here ? there - here >= bytes : here - there >= bytes;
  if (apart) return copy_bytes(to, from, bytes);
  std::memmove(to, from, bytes);
}

}  // namespace tessera
