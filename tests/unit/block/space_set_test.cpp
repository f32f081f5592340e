// Sets of memory spaces.
#include "core/block/space_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

namespace tessera::block {
namespace {

std::vector<std::uint16_t> listed(const space_set& s) {
  std::vector<std::uint16_t> out;
  s.for_each([&](std::uint16_t space) { out.push_back(space); });
  return out;
}

TEST(space_set, holds_what_a_set_holds) {
  std::mt19937 random(7);
  space_set a, b;
  std::set<std::uint16_t> ra, rb;
  for (int step = 0; step < 20'000; ++step) {
    const auto [is, reference] = random() % 2 == 0 ? std::tie(a, ra) : std::tie(b, rb);
    const auto space = static_cast<std::uint16_t>(random() % space_set::max_spaces);
    if (random() % 8 < 3) {
      is.add(space);
      reference.insert(space);
    } else {
      is.remove(space);
      reference.erase(space);
    }
    ASSERT_EQ(is.has(space), reference.contains(space));
    ASSERT_EQ(is.empty(), reference.empty());
    ASSERT_EQ(is.first(), reference.empty() ? space_set::max_spaces : *reference.begin());
    ASSERT_EQ(listed(is), std::vector(reference.begin(), reference.end()));
    std::set<std::uint16_t> both = ra;
    both.insert(rb.begin(), rb.end());
    ASSERT_EQ(listed(a | b), std::vector(both.begin(), both.end()));
    ASSERT_EQ(a.meets(b), both.size() < ra.size() + rb.size());
    ASSERT_EQ(a == b, ra == rb);
  }
}

TEST(space_set, of_one_space) {
  for (std::uint16_t k = 0; k < space_set::max_spaces; ++k) EXPECT_EQ(listed(space_set::of(k)), std::vector{k});
  EXPECT_EQ(space_set::of(3), space_set().add(3).add(64).remove(64));
  EXPECT_NE(space_set::of(3), space_set::of(67)) << "the same bit of another word";
}

TEST(atomic_space_set, keeps_what_threads_add_at_once) {
  atomic_space_set s;
  EXPECT_TRUE(s.empty());
  std::vector<std::thread> threads;
  for (std::uint16_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint16_t k = t; k < space_set::max_spaces; k += 4) s.add(k);
      for (std::uint16_t k = t; k < space_set::max_spaces; k += 8) s.remove(k);
    });
  for (std::thread& t : threads) t.join();
  for (std::uint16_t k = 0; k < space_set::max_spaces; ++k) EXPECT_EQ(s.has(k), k % 8 >= 4) << k;
}

TEST(atomic_space_set, is_within_another) {
  atomic_space_set small, large;
  EXPECT_TRUE(small.within(large));
  small.add(100);
  EXPECT_FALSE(small.within(large));
  large.add(36);
  EXPECT_FALSE(small.within(large));
  large.add(100);
  EXPECT_TRUE(small.within(large));
  EXPECT_FALSE(large.within(small));
}

}  // namespace
}  // namespace tessera::block
