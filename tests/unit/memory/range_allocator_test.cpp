// The range allocator against a bitmap of granules.
#include "core/memory/range_allocator.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace tessera::memory {
namespace {

TEST(range_allocator, takes_the_best_fit) {
  range_allocator a(16 * 64, 64);
  const auto p = a.allocate(4 * 64), q = a.allocate(64), r = a.allocate(2 * 64), s = a.allocate(64);
  ASSERT_TRUE(p && q && r && s);
  a.release(*p, 4 * 64);
  a.release(*r, 2 * 64);
  EXPECT_EQ(a.allocate(2 * 64), *r) << "the hole of two, not that of four nor the end";
  EXPECT_EQ(a.allocate(3 * 64), *p);
  EXPECT_EQ(a.largest_free(), 8u * 64);
}

TEST(range_allocator, keeps_to_pages) {
  range_allocator a(12 * 64, 64);
  const page_grid pages{.page = 4 * 64};
  EXPECT_EQ(a.allocate(3 * 64, pages), 0u);
  EXPECT_EQ(a.allocate(2 * 64, pages), 4u * 64) << "not across the end of the first page";
  EXPECT_EQ(a.allocate(64, pages), 3u * 64);
  EXPECT_EQ(a.allocate(4 * 64, pages), 8u * 64);
  EXPECT_EQ(a.allocate(3 * 64, pages), std::nullopt);
  EXPECT_EQ(a.allocate(2 * 64, pages), 6u * 64);
  EXPECT_EQ(a.used(), a.capacity());
}

TEST(range_allocator, rounds_to_granules) {
  range_allocator a(4 * 256, 256);
  EXPECT_EQ(a.rounded(0), 256u) << "nothing takes one granule: two empty blocks have different addresses";
  EXPECT_EQ(a.rounded(1), 256u);
  EXPECT_EQ(a.rounded(256), 256u);
  EXPECT_EQ(a.rounded(257), 512u);
  EXPECT_EQ(a.allocate(0), 0u);
  EXPECT_EQ(a.allocate(257), 256u);
  EXPECT_EQ(a.used(), 768u);
  EXPECT_EQ(a.allocate(257), std::nullopt);
  a.release(0, 0);
  a.release(256, 257);
  EXPECT_EQ(a.used(), 0u);
  EXPECT_EQ(a.largest_free(), 1024u) << "neighbours join";
  EXPECT_EQ(a.allocate(1025), std::nullopt);
  EXPECT_EQ(a.allocate(1024), 0u);
  EXPECT_EQ(a.largest_free(), 0u);
}

TEST(range_allocator, agrees_with_a_bitmap) {
  const char* given = std::getenv("TESSERA_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  constexpr std::uint64_t granule = 64;
  for (int round = 0; round < 40; ++round) {
    const std::size_t granules = 1 + random() % 200;
    range_allocator a(granules * granule, granule);
    std::vector<bool> taken(granules, false);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> live;  // offset, bytes as asked for
    const auto free_runs = [&] {
      std::vector<std::pair<std::size_t, std::size_t>> runs;  // length, start
      for (std::size_t k = 0; k < granules;) {
        std::size_t end = k;
        while (end < granules && !taken[end]) ++end;
        if (end > k) runs.emplace_back(end - k, k);
        k = end + 1;
      }
      return runs;
    };
    for (int step = 0; step < 400; ++step) {
      if (live.empty() || random() % 5 < 3) {
        const std::uint64_t bytes = random() % (granules * granule / (1 + random() % 20) + 1);
        const std::size_t need = bytes == 0 ? 1 : (bytes + granule - 1) / granule;
        std::size_t best = granules + 1;
        for (const auto& [length, start] : free_runs())
          if (length >= need) best = std::min(best, length);
        const auto offset = a.allocate(bytes);
        ASSERT_EQ(offset.has_value(), best <= granules) << bytes;
        if (!offset) continue;
        ASSERT_EQ(*offset % granule, 0u);
        const std::size_t first = *offset / granule;
        ASSERT_LE(first + need, granules);
        ASSERT_TRUE(first == 0 || taken[first - 1]) << "a range starts at the start of its hole";
        std::size_t hole = 0;
        while (first + hole < granules && !taken[first + hole]) ++hole;
        ASSERT_EQ(hole, best) << "the smallest hole that is large enough";
        for (std::size_t k = first; k < first + need; ++k) taken[k] = true;
        live.emplace_back(*offset, bytes);
      } else {
        const std::size_t which = random() % live.size();
        const auto [offset, bytes] = live[which];
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        a.release(offset, bytes);
        for (std::size_t k = 0; k < a.rounded(bytes) / granule; ++k) taken[offset / granule + k] = false;
      }
      std::size_t used = 0, largest = 0;
      for (const bool t : taken) used += t;
      for (const auto& [length, start] : free_runs()) largest = std::max(largest, length);
      ASSERT_EQ(a.used(), used * granule);
      ASSERT_EQ(a.largest_free(), largest * granule);
    }
  }
}

}  // namespace
}  // namespace tessera::memory
