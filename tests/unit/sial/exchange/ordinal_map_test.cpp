// The table that finds blocks: against std::map, for dense, sparse and unlucky ordinals.
#include "languages/sial/exchange/ordinal_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>
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

/// What the workers of a loop have of an array: ranges that begin anywhere, while the table grows.
TEST(ordinal_map, ranges_do_not_pile_up_behind_each_other) {
  struct range {
    std::int64_t begin, end, step;
  };
  const std::vector<std::pair<const char*, std::vector<range>>> cases{
      {"all in order", {{0, 100'000, 1}}},
      {"the second half", {{50'000, 100'000, 1}}},
      {"shrinking chunks", {{0, 40'000, 1}, {70'000, 95'000, 1}, {130'000, 140'000, 1}, {163'000, 163'900, 1}}},
      {"every fourth row of a thousand", {{0, 1000, 1}, {4000, 5000, 1}, {8000, 9000, 1}, {12'000, 13'000, 1}}},
      {"a column", {{7, 4'000'000, 1000}}},
      {"every 64th", {{0, 640'000, 64}}},
      {"every 4096th", {{0, 4'096'000, 4096}}},
      {"far away", {{std::int64_t{1} << 50, (std::int64_t{1} << 50) + 3000, 1}}}};
  int value = 0;
  for (const auto& [name, ranges] : cases) {
    ordinal_map<int> map;
    double looks = 0, most = 0;
    for (const range& r : ranges)
      for (std::int64_t k = r.begin; k < r.end; k += r.step) {
        most = std::max(most, static_cast<double>(map.looks_for(k)));  // for the place of a new one
        map.add(k, value);
      }
    for (const range& r : ranges)
      for (std::int64_t k = r.begin; k < r.end; k += r.step) looks += static_cast<double>(map.looks_for(k));
    EXPECT_LE(looks / static_cast<double>(map.size()), 2.5) << name;
    EXPECT_LE(most, 100) << name;
  }
  ordinal_map<int> stripe;  // as local_generation chooses them
  double looks = 0;
  const auto belongs = [](std::int64_t k) {
    return (static_cast<std::uint64_t>(k) >> 6) * 0x9e3779b97f4a7c15ull >> 58 == 7;
  };
  for (std::int64_t k = 0; k < 1'000'000; ++k)
    if (belongs(k)) stripe.add(k, value);
  for (std::int64_t k = 0; k < 1'000'000; ++k)
    if (belongs(k)) looks += static_cast<double>(stripe.looks_for(k));
  EXPECT_GT(stripe.size(), 10'000u);
  EXPECT_LE(looks / static_cast<double>(stripe.size()), 2.5);
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
