#include "core/validate/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::validate {
namespace {

constexpr std::uint64_t f64_exponent = 0x7ff0'0000'0000'0000u, f64_quiet = 0x0008'0000'0000'0000u;
constexpr std::uint64_t f64_tag = 0x0007'ffff'ff00'0000u, f64_id = 0x0000'0000'00ff'ffffu;
constexpr std::uint32_t f32_exponent = 0x7f80'0000u, f32_quiet = 0x0040'0000u, f32_tag = 0x003f'ffffu;
constexpr std::size_t longest_element = 16;

std::uint64_t mix(std::uint64_t x) noexcept {  // splitmix64's finalizer
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

enum class scalar_kind : std::uint8_t {
  f64,
  f32,
  other
};
scalar_kind kind_of(element_type type) noexcept {
  switch (type) {
    case element_type::f64:
    case element_type::c128:
      return scalar_kind::f64;
    case element_type::f32:
    case element_type::c64:
      return scalar_kind::f32;
    default:
      return scalar_kind::other;
  }
}

}  // namespace

pattern::pattern(std::uint64_t seed) noexcept : m_seed(mix(seed)) {
  for (std::size_t k = 0; k < 2; ++k) {
    m_f64[k] = f64_exponent | ((mix(m_seed + 1 + k) | 1u << 24) & f64_tag);  // never an infinity
    m_f32[k] = f32_exponent | ((static_cast<std::uint32_t>(mix(m_seed + 3 + k)) | 2u) & f32_tag & ~std::uint32_t{1}) |
               static_cast<std::uint32_t>(k);  // the two differ
  }
  if ((m_f64[0] & f64_tag) == (m_f64[1] & f64_tag)) m_f64[1] ^= std::uint64_t{1} << 25;
}

std::uint64_t pattern::word(std::uint64_t position, std::uint64_t salt) const noexcept {
  return mix(m_seed ^ mix(position * 4 + salt));
}

void pattern::element(std::byte* to, element_type type, std::uint64_t position, meaning is,
                      std::uint32_t id) const noexcept {
  const auto which = static_cast<std::size_t>(is);
  const std::size_t size = size_of(type);
  const std::size_t parts = type == element_type::c64 || type == element_type::c128 ? 2 : 1;
  switch (kind_of(type)) {
    case scalar_kind::f64: {
      const std::uint64_t value = m_f64[which] | (id & f64_id);
      for (std::size_t k = 0; k < parts; ++k) std::memcpy(to + k * sizeof value, &value, sizeof value);
      return;
    }
    case scalar_kind::f32:
      for (std::size_t k = 0; k < parts; ++k)
        std::memcpy(to + k * sizeof m_f32[which], &m_f32[which], sizeof m_f32[which]);
      return;
    case scalar_kind::other: {
      const std::uint64_t byte = position * size;  // elements of at most 8 bytes do not straddle words
      const std::uint64_t value = word(byte / 8, which);
      std::memcpy(to, reinterpret_cast<const std::byte*>(&value) + byte % 8, size);
      return;
    }
  }
}

void pattern::fill(std::span<std::byte> to, element_type type, meaning is, std::uint32_t id) const noexcept {
  const std::size_t size = size_of(type);
  for (std::size_t k = 0; k < to.size() / size; ++k) element(to.data() + k * size, type, k, is, id);
}

std::uint64_t pattern::untouched(std::span<const std::byte> in, element_type type,
                                 std::size_t per_element) const noexcept {
  const std::size_t size = size_of(type);
  const bool strong = kind_of(type) != scalar_kind::other;
  std::array<std::byte, longest_element> expected{};
  std::uint64_t count = 0, run = 0;
  const auto end_run = [&] {
    if (strong || run * size * per_element >= 8) count += run;
    run = 0;
  };
  const auto is_untouched = [&](std::size_t k) {
    element(expected.data(), type, k, meaning::never_written, 0);
    return std::memcmp(expected.data(), in.data() + k * size, size) == 0;
  };
  for (std::size_t first = 0; first + per_element <= in.size() / size; first += per_element) {
    std::size_t left = 0;
    while (left < per_element && is_untouched(first + left)) ++left;
    if (left == per_element)
      ++run;
    else
      end_run();
  }
  end_run();
  return count;
}

bool pattern::intact(std::span<const std::byte> in, element_type type, std::uint32_t id,
                     std::size_t& out_first) const noexcept {
  const std::size_t size = size_of(type);
  std::array<std::byte, longest_element> expected{};
  for (std::size_t k = 0; k < in.size() / size; ++k) {
    element(expected.data(), type, k, meaning::ended, id);
    if (std::memcmp(expected.data(), in.data() + k * size, size) == 0) continue;
    out_first = k;
    return false;
  }
  return true;
}

pattern::taint pattern::tainted(std::span<const std::byte> in, element_type type, meaning is) const noexcept {
  const auto which = static_cast<std::size_t>(is);
  const std::size_t size = size_of(type);
  taint found;
  const auto note = [&](std::size_t byte, std::uint32_t id) {
    if (found.elements == 0) found.first = byte / size, found.id = id;
    ++found.elements;
  };
  std::size_t last = ~std::size_t{0};  // element already counted: complex numbers have two parts
  if (kind_of(type) == scalar_kind::f64) {
    for (std::size_t at = 0; at + 8 <= in.size(); at += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, in.data() + at, sizeof value);
      if ((value & (f64_exponent | f64_tag)) == (m_f64[which] & (f64_exponent | f64_tag)) && last != at / size) {
        note(at, static_cast<std::uint32_t>(value & f64_id));
        last = at / size;
      }
    }
  } else if (kind_of(type) == scalar_kind::f32) {
    for (std::size_t at = 0; at + 4 <= in.size(); at += 4) {
      std::uint32_t value = 0;
      std::memcpy(&value, in.data() + at, sizeof value);
      if ((value & (f32_exponent | f32_tag)) == m_f32[which] && last != at / size) {
        note(at, 0);
        last = at / size;
      }
    }
  }
  return found;
}

void pattern::fill_zone(std::span<std::byte> to) const noexcept {
  for (std::size_t at = 0; at < to.size(); at += 8) {
    const std::uint64_t value = word(at / 8, 2);
    std::memcpy(to.data() + at, &value, std::min<std::size_t>(8, to.size() - at));
  }
}

std::uint64_t pattern::zone_damage(std::span<const std::byte> in, std::size_t& out_first) const noexcept {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < in.size(); at += 8) {
    const std::uint64_t value = word(at / 8, 2);
    const std::size_t size = std::min<std::size_t>(8, in.size() - at);
    if (std::memcmp(in.data() + at, &value, size) == 0) continue;
    for (std::size_t k = 0; k < size; ++k)
      if (in[at + k] != reinterpret_cast<const std::byte*>(&value)[k] && count++ == 0) out_first = at + k;
  }
  return count;
}

}  // namespace tessera::validate
