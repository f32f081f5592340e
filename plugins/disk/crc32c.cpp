#include "plugins/disk/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace tessera::disk {
namespace {

using table = std::array<std::array<std::uint32_t, 256>, 8>;

/// tables[k][b]: what byte b contributes when k more bytes follow it in the same step of eight ("slicing by 8").
constexpr table make_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // bits reversed
  table t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? polynomial : 0);
    t[0][b] = sum;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::uint32_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}
constexpr table tables = make_tables();

std::uint64_t load(const unsigned char* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

#if defined(__x86_64__)
bool has_instruction() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2");
  return has;
}

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(const unsigned char* from, std::size_t bytes) noexcept {
  std::uint64_t sum = 0xffffffff;
  for (; bytes >= 8; bytes -= 8, from += 8) sum = _mm_crc32_u64(sum, load(from));
  for (; bytes > 0; --bytes, ++from) sum = _mm_crc32_u8(static_cast<std::uint32_t>(sum), *from);
  return ~static_cast<std::uint32_t>(sum);
}

[[gnu::target("sse4.2")]] void four_by_instruction(const unsigned char* from, std::size_t bytes,
                                                   std::uint32_t* out) noexcept {
  std::uint64_t a = 0xffffffff, b = a, c = a, d = a;
  for (std::size_t i = 0; i < bytes; i += 8) {
    a = _mm_crc32_u64(a, load(from + i));
    b = _mm_crc32_u64(b, load(from + bytes + i));
    c = _mm_crc32_u64(c, load(from + 2 * bytes + i));
    d = _mm_crc32_u64(d, load(from + 3 * bytes + i));
  }
  out[0] = ~static_cast<std::uint32_t>(a);
  out[1] = ~static_cast<std::uint32_t>(b);
  out[2] = ~static_cast<std::uint32_t>(c);
  out[3] = ~static_cast<std::uint32_t>(d);
}
#else
bool has_instruction() noexcept { return false; }
std::uint32_t by_instruction(const unsigned char* from, std::size_t bytes) noexcept {
  return detail::crc32c_tables(from, bytes);
}
void four_by_instruction(const unsigned char*, std::size_t, std::uint32_t*) noexcept {}
#endif

}  // namespace

std::uint32_t detail::crc32c_tables(const void* data, std::size_t bytes) noexcept {
  const auto* from = static_cast<const unsigned char*>(data);
  std::uint32_t sum = 0xffffffff;
  for (; bytes >= 8; bytes -= 8, from += 8) {
    const std::uint64_t word = load(from) ^ sum;
    sum = 0;
    for (std::size_t k = 0; k < 8; ++k) sum ^= tables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; bytes > 0; --bytes, ++from) sum = (sum >> 8) ^ tables[0][(sum ^ *from) & 0xff];
  return ~sum;
}

std::uint32_t crc32c(const void* data, std::size_t bytes) noexcept {
  if (has_instruction()) return by_instruction(static_cast<const unsigned char*>(data), bytes);
  return detail::crc32c_tables(data, bytes);
}

void crc32c_cells(const void* data, std::size_t bytes, std::size_t count, std::uint32_t* out) noexcept {
  const auto* from = static_cast<const unsigned char*>(data);
  std::size_t i = 0;
  if (has_instruction())
    for (; i + 4 <= count; i += 4) four_by_instruction(from + i * bytes, bytes, out + i);
  for (; i < count; ++i) out[i] = crc32c(from + i * bytes, bytes);
}

const char* crc32c_method() noexcept { return has_instruction() ? "SSE4.2" : "tables"; }

}  // namespace tessera::disk
