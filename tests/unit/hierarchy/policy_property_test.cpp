// Random trees, loops and policies: every split covers 0 .. n-1 exactly once and gives only to leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <random>

#include "hierarchy/policy/split.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;

location::tree random_tree(std::mt19937_64& random) {
  location::properties is;
  is.kind = kind::machine;
  is.name = "n0";
  location::tree t(is);
  const std::size_t size = 2 + random() % 30;
  for (std::size_t i = 1; i < size; ++i) {
    static constexpr kind kinds[] = {kind::worker, kind::worker, kind::virtual_group, kind::memory, kind::storage};
    is.kind = kinds[random() % 5];
    is.name = "n" + std::to_string(i);
    t.add(static_cast<location::node_id>(random() % i), is);
  }
  is.kind = kind::worker;
  is.name = "last";
  t.add(0, is);
  return t;
}

TEST(policy_property, every_split_covers_the_loop_exactly_once) {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    const location::tree t = random_tree(random);
    const std::uint64_t n = round % 7 == 0 ? random() >> 1 : random() % 1000;
    const leaf_rule rule = random() % 2 ? leaf_rule::cores : leaf_rule::teams;
    const auto leaves = executing_leaves(t, 0, rule);
    ASSERT_FALSE(leaves.empty());
    std::vector<leaf_state> states(leaves.size());
    for (leaf_state& s : states)
      s = {random() % 2 == 0,
           static_cast<double>(random() % 100),
           {static_cast<double>(random() % 2000), static_cast<double>(random() % 50)}};

    policy p;
    p.kind = static_cast<policy_kind>(random() % 6);
    const std::size_t entries = 1 + random() % (2 * leaves.size());
    if (p.kind == policy_kind::percentage) {
      std::vector<double> weights(entries);
      for (double& w : weights) w = static_cast<double>(random() % 1000);
      weights.front() += 1;
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (const double w : weights) p.percentages.push_back(100 * w / sum);
    }
    if (p.kind == policy_kind::range) {
      std::uint64_t left = n;
      for (std::size_t i = 0; i + 1 < entries; ++i) {
        p.counts.push_back(left == 0 ? 0 : random() % (left + 1));
        left -= p.counts.back();
      }
      p.counts.push_back(left);
    }
    const auto chunks =
        split(p, n, t, 0,
              {"property", random() % 2 ? std::span<const leaf_state>(states) : std::span<const leaf_state>(), rule});
    std::uint64_t next = 0;
    for (const chunk& c : chunks) {
      ASSERT_EQ(c.begin, next) << to_text(p) << " n " << n;
      ASSERT_LT(c.begin, c.end);
      ASSERT_NE(std::ranges::find(leaves, c.leaf), leaves.end());
      next = c.end;
    }
    ASSERT_EQ(next, n) << to_text(p);
    // Even splits differ by one iteration at most, over all leaves that got something or should have.
    if (p.kind == policy_kind::flatten && n >= leaves.size()) {
      ASSERT_EQ(chunks.size(), leaves.size());
      for (const chunk& c : chunks) ASSERT_LE(c.end - c.begin - n / leaves.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace tessera::hierarchy
