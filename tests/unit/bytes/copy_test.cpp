// Copies of bytes: every size, every place modulo a page, nothing touched beside them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/copy.hpp"

namespace tessera {
namespace {

constexpr std::size_t guard = 128, page = 4096;

std::uint64_t seed() {
  const char* const given = std::getenv("TESSERA_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20261129;
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// Source and destination of up to so many bytes at any places in their pages, with bytes of another value around the
/// destination. The ends of both are those of their allocations, so that the address sanitizer sees what goes beyond.
class pair_of_ranges {
 public:
  pair_of_ranges(std::size_t bytes, std::size_t from_place, std::size_t to_place, std::mt19937_64& draw)
      : m_bytes(bytes),
        m_from(make(from_place + bytes)),
        m_to(make(to_place + guard + bytes + guard)),
        m_from_place(from_place),
        m_to_place(to_place + guard) {
    for (std::size_t k = 0; k < bytes; ++k) from()[k] = static_cast<std::byte>(draw());
    std::memset(m_to.get(), 0xa5, m_to_place + bytes + guard);
  }
  std::byte* from() { return m_from.get() + m_from_place; }
  std::byte* to() { return m_to.get() + m_to_place; }

  void expect_copied(const std::string& what) {
    ASSERT_TRUE(m_bytes == 0 || std::memcmp(from(), to(), m_bytes) == 0) << what;
    for (std::size_t k = 0; k < m_to_place; ++k) ASSERT_EQ(m_to.get()[k], std::byte{0xa5}) << what << ", before it";
    for (std::size_t k = 0; k < guard; ++k) ASSERT_EQ(to()[m_bytes + k], std::byte{0xa5}) << what << ", behind it";
  }

 private:
  struct freed {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  static std::unique_ptr<std::byte, freed> make(std::size_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, page, bytes + 1) != 0) throw std::bad_alloc();
    return std::unique_ptr<std::byte, freed>(static_cast<std::byte*>(memory));
  }
  std::size_t m_bytes;
  std::unique_ptr<std::byte, freed> m_from, m_to;
  std::size_t m_from_place, m_to_place;
};

std::string place(std::string_view how, std::size_t bytes, std::size_t from, std::size_t to) {
  return std::string(how) + ": " + std::to_string(bytes) + " bytes from " + std::to_string(from) + " to " +
         std::to_string(to) + " modulo a page";
}

TEST(copy_bytes, copies_each_size_and_nothing_else) {
  std::mt19937_64 draw(seed());
  for (std::size_t bytes = 0; bytes <= 5000; bytes += bytes < 300 ? 1 : 1 + draw() % 40) {
    const std::size_t from = draw() % 64, to = draw() % 64;
    pair_of_ranges ranges(bytes, from, to, draw);
    copy_bytes(ranges.to(), ranges.from(), bytes);
    ASSERT_NO_FATAL_FAILURE(ranges.expect_copied(place("copy_bytes", bytes, from, to)));
  }
}

TEST(copy_bytes, nothing_may_be_nowhere) {
  copy_bytes(nullptr, nullptr, 0);
  move_bytes(nullptr, nullptr, 0);
}

TEST(copy_bytes, copies_large_ranges_on_both_sides_of_the_second_cache) {
  std::mt19937_64 draw(seed());
  const std::size_t most = min_past_caches();
  for (const std::size_t bytes : {most / 2 + 3, most - 1, most, most + 1, 3 * most + 77}) {
    const std::size_t from = draw() % page, to = draw() % page;
    pair_of_ranges ranges(bytes, from, to, draw);
    copy_bytes(ranges.to(), ranges.from(), bytes);
    ASSERT_NO_FATAL_FAILURE(ranges.expect_copied(place("copy_bytes", bytes, from, to)));
  }
}

/// Both loops at all places of a line, whatever size copy_bytes would take them for.
TEST(copy_loops, copy_from_each_place_of_a_line_to_each) {
  std::mt19937_64 draw(seed());
  for (const copy_loop& loop : copy_loops())
    for (std::size_t from = 0; from < 64; ++from)
      for (std::size_t to = 0; to < 64; to += 1 + draw() % 3) {
        const std::size_t bytes = loop.least + draw() % 1200;
        pair_of_ranges ranges(bytes, from, to, draw);
        loop.run(ranges.to(), ranges.from(), bytes);
        ASSERT_NO_FATAL_FAILURE(ranges.expect_copied(place(loop.name, bytes, from, to)));
      }
}

TEST(copy_loops, copy_each_size_from_their_least_on) {
  std::mt19937_64 draw(seed());
  for (const copy_loop& loop : copy_loops())
    for (std::size_t bytes = loop.least; bytes < loop.least + 1100; ++bytes) {
      const std::size_t from = draw() % page, to = draw() % page;
      pair_of_ranges ranges(bytes, from, to, draw);
      loop.run(ranges.to(), ranges.from(), bytes);
      ASSERT_NO_FATAL_FAILURE(ranges.expect_copied(place(loop.name, bytes, from, to)));
    }
}

TEST(move_bytes, ranges_may_overlap_at_any_distance) {
  std::mt19937_64 draw(seed());
  const std::size_t bytes = 6000;
  for (int k = 0; k < 300; ++k) {
    std::vector<std::byte> memory(3 * bytes);
    for (std::byte& one : memory) one = static_cast<std::byte>(draw());
    const std::size_t from = bytes, to = k < 130 ? bytes - 65 + static_cast<std::size_t>(k) : draw() % (2 * bytes);
    std::vector<std::byte> expected = memory;
    std::memmove(expected.data() + to, memory.data() + from, bytes);
    move_bytes(memory.data() + to, memory.data() + from, bytes);
    ASSERT_TRUE(memory == expected) << place("move_bytes", bytes, from, to) << ", " << k;
  }
}

}  // namespace
}  // namespace tessera
