// The table that finds blocks: against std::map, for dense, sparse and unlucky ordinals.
#include "languages/sial/exchange/ordinal_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace tessera::sial::test {
namespace {

std::map<std::int64_t, int> contents_of(const ordinal_map<int>& of) {
  std::map<std::int64_t, int> all;
  of.for_each([&](std::int64_t ordinal, int& what) {
    EXPECT_TRUE(all.emplace(ordinal, what).second) << ordinal << " came twice";
  });
  return all;
}

TEST(ordinal_map, an_empty_one_has_nothing) {
  ordinal_map<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_EQ(map.find(1'000'000'000'000), nullptr);
  map.remove(3);
  map.clear();
  EXPECT_EQ(map.size(), 0u);
  EXPECT_TRUE(contents_of(map).empty());
}

TEST(ordinal_map, is_what_a_map_is) {
  for (const std::int64_t stride :
       {std::int64_t{1}, std::int64_t{64}, std::int64_t{4096}, std::int64_t{1} << 20, (std::int64_t{1} << 40) + 1}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(stride));
    ordinal_map<int> map;
    std::map<std::int64_t, int> oracle;
    std::map<std::int64_t, std::unique_ptr<int>> made;  // stay where they are, also when they are not in the map
    for (int turn = 0; turn < 20'000; ++turn) {
      const std::int64_t ordinal = static_cast<std::int64_t>(random() % 300) * stride;
      const bool there = oracle.count(ordinal) != 0;
      int* const found = map.find(ordinal);
      ASSERT_EQ(found != nullptr, there) << ordinal;
      if (there) {
        ASSERT_EQ(*found, oracle[ordinal]);
      }
      const auto what = random() % (turn < 10'000 ? 3 : 2);  // first more come than go
      if (what == 0) {
        map.remove(ordinal);
        oracle.erase(ordinal);
      } else if (!there) {
        auto& one = made[ordinal];
        one = std::make_unique<int>(turn);
        map.add(ordinal, *one);
        oracle[ordinal] = turn;
      }
      ASSERT_EQ(map.size(), oracle.size());
    }
    EXPECT_EQ(contents_of(map), oracle) << "stride " << stride;
    map.clear();
    EXPECT_EQ(map.size(), 0u);
    for (const auto& [ordinal, value] : oracle) EXPECT_EQ(map.find(ordinal), nullptr);
  }
}

TEST(ordinal_map, one_that_was_large_finds_after_each_clearing) {
  ordinal_map<int> map;
  std::vector<int> numbers(5000);
  for (int k = 0; k < 5000; ++k) map.add(k, numbers[static_cast<std::size_t>(k)]);
  for (int round = 0; round < 12; ++round) {
    map.clear();
    EXPECT_EQ(map.find(4999), nullptr);
    for (const std::int64_t ordinal : {3, 4096, 70'000, 1 << 30}) {
      EXPECT_EQ(map.find(ordinal), nullptr) << round;
      map.add(ordinal, numbers[static_cast<std::size_t>(ordinal % 5000)]);
    }
    for (const std::int64_t ordinal : {3, 4096, 70'000, 1 << 30})
      EXPECT_EQ(map.find(ordinal), &numbers[static_cast<std::size_t>(ordinal % 5000)]) << round;
    EXPECT_EQ(contents_of(map).size(), 4u);
  }
}

}  // namespace
}  // namespace tessera::sial::test
