// Patterns are recognised, results that come from them too, and ordinary numbers never.
#include "core/validate/pattern.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tessera::validate {
namespace {

template <class T>
std::span<std::byte> bytes_of(std::vector<T>& v) {
  return std::as_writable_bytes(std::span(v));
}

TEST(pattern, counts_what_nobody_has_written) {
  for (const std::uint64_t seed : {1u, 2u, 12345u}) {
    const pattern p(seed);
    for (const element_type type :
         {element_type::f32, element_type::f64, element_type::c64, element_type::c128, element_type::i32,
          element_type::i64, element_type::u8, element_type::f16, element_type::bf16}) {
      std::vector<std::byte> memory(64 * size_of(type));
      p.fill(memory, type, pattern::meaning::never_written);
      EXPECT_EQ(p.untouched(memory, type), 64u) << name_of(type);
      std::memset(memory.data(), 0, 16 * size_of(type));
      EXPECT_EQ(p.untouched(memory, type), 48u) << name_of(type);
      std::memset(memory.data(), 0, memory.size());
      EXPECT_EQ(p.untouched(memory, type), 0u) << name_of(type);
    }
  }
}

TEST(pattern, elements_of_a_type_of_the_program_count_as_a_whole) {
  struct padded {
    alignas(16) double x;  // and eight bytes that nobody writes
    alignas(16) short kind;
  };
  const pattern p(5);
  std::vector<std::byte> memory(64 * sizeof(padded));
  p.fill(memory, element_type::u8, pattern::meaning::never_written);
  EXPECT_EQ(p.untouched(memory, element_type::u8, sizeof(padded)), 64u);
  for (std::size_t k = 0; k < 48; ++k) {
    std::memset(memory.data() + k * sizeof(padded), 0, sizeof(double));
    std::memset(memory.data() + k * sizeof(padded) + offsetof(padded, kind), 0, sizeof(short));
  }
  EXPECT_EQ(p.untouched(memory, element_type::u8, sizeof(padded)), 16u);
  EXPECT_GT(p.untouched(memory, element_type::u8), 48u * 16) << "as bytes, what is between members counts";
}

TEST(pattern, ordinary_numbers_are_never_taken_for_it) {
  std::mt19937_64 random(7);
  const pattern p(random());
  std::vector<double> numbers = {0.0,
                                 -0.0,
                                 1.0,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::signaling_NaN(),
                                 std::numeric_limits<double>::denorm_min()};
  for (int k = 0; k < 100'000; ++k) numbers.push_back(std::generate_canonical<double, 53>(random) - 0.5);
  EXPECT_EQ(p.untouched(bytes_of(numbers), element_type::f64), 0u);
  for (const auto meaning : {pattern::meaning::never_written, pattern::meaning::ended})
    EXPECT_EQ(p.tainted(bytes_of(numbers), element_type::f64, meaning).elements, 0u);
  for (int value = 0; value < 256; ++value) {  // a fill of small integers equals the pattern here and there, by chance
    std::vector<std::uint8_t> filled(4096, static_cast<std::uint8_t>(value));
    EXPECT_EQ(p.untouched(bytes_of(filled), element_type::u8), 0u) << value;
  }
}

TEST(pattern, shows_in_what_is_computed_from_it) {
  const pattern p(99);
  std::vector<double> from(8), to(8);
  p.fill(bytes_of(from), element_type::f64, pattern::meaning::ended, 77);
  for (std::size_t k = 0; k < 8; ++k) to[k] = k < 5 ? static_cast<double>(k) : 3 * from[k] + 1;
  const auto found = p.tainted(bytes_of(to), element_type::f64, pattern::meaning::ended);
  EXPECT_EQ(found.elements, 3u);
  EXPECT_EQ(found.first, 5u);
  EXPECT_EQ(found.id, 77u);
  EXPECT_EQ(p.tainted(bytes_of(to), element_type::f64, pattern::meaning::never_written).elements, 0u)
      << "the meanings are told apart";
  std::vector<float> narrow(4), sums(4);
  p.fill(bytes_of(narrow), element_type::f32, pattern::meaning::never_written);
  for (std::size_t k = 0; k < 4; ++k) sums[k] = narrow[k] + 1.0f;
  EXPECT_EQ(p.tainted(bytes_of(sums), element_type::f32, pattern::meaning::never_written).elements, 4u);
  EXPECT_EQ(p.untouched(bytes_of(sums), element_type::f32), 0u) << "a sum was written";
}

TEST(pattern, zones_tell_the_first_damaged_byte) {
  const pattern p(5);
  std::vector<std::byte> zone(100);
  p.fill_zone(zone);
  std::size_t first = 0;
  EXPECT_EQ(p.zone_damage(zone, first), 0u);
  zone[97] ^= std::byte{1};
  zone[31] ^= std::byte{1};
  EXPECT_EQ(p.zone_damage(zone, first), 2u);
  EXPECT_EQ(first, 31u);
}

}  // namespace
}  // namespace tessera::validate
