// Who has the blocks that tasks commute on.
#include "core/schedule/commuting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "core/block/table.hpp"
#include "core/task/pool.hpp"

namespace tessera::schedule {
namespace {

class commuting : public ::testing::Test {
 protected:
  task::record& make(std::initializer_list<block::record*> of, std::int16_t priority = 0) {
    return make(std::vector<block::record*>(of), priority);
  }
  task::record& make(const std::vector<block::record*>& of, std::int16_t priority = 0) {
    task::record& t = tasks.take();
    t.priority = priority;
    t.sequence = ++sequence;
    t.rare = task::rare_commutes;
    t.access_count = static_cast<std::uint8_t>(of.size());
    for (std::size_t k = 0; k < of.size(); ++k)
      t.accesses[k] = {.block = of[k], .version = 0, .intent = intent::commute, .flags = 0, .space = 0};
    return t;
  }
  std::vector<task::record*> leave(task::record& t) {
    for (const block::access& a : t.all_accesses()) a.block->committed = a.version;  // published
    std::vector<task::record*> next;
    blocks.leave(t, [&](task::record& one) { next.push_back(&one); });
    return next;
  }
  block::table table;
  block::record &x = table.create(element_type::f64, shape{1}), &y = table.create(element_type::f64, shape{1}),
                &z = table.create(element_type::f64, shape{1});
  task::pool tasks{0};
  std::uint64_t sequence = 0;
  std::uint32_t all_first = 0;
  commuting_blocks blocks;
};

TEST_F(commuting, one_at_a_time_in_the_order_in_which_they_ask) {
  task::record &a = make({&x}), &b = make({&x}), &c = make({&x});
  EXPECT_TRUE(blocks.enter(b));
  EXPECT_FALSE(blocks.enter(a));
  EXPECT_FALSE(blocks.enter(c));
  EXPECT_EQ(b.accesses[0].intent, intent::update);
  EXPECT_EQ(b.accesses[0].version, 1u);
  EXPECT_EQ(leave(b), std::vector{&a}) << "the oldest that waits";
  EXPECT_EQ(a.accesses[0].version, 2u);
  EXPECT_EQ(leave(a), std::vector{&c});
  EXPECT_TRUE(leave(c).empty());
  EXPECT_TRUE(blocks.enter(make({&x}))) << "nothing is left behind";
}

TEST_F(commuting, the_higher_priority_goes_first) {
  task::record &a = make({&x}), &b = make({&x}), &c = make({&x}, 3);
  EXPECT_TRUE(blocks.enter(a));
  EXPECT_FALSE(blocks.enter(b));
  EXPECT_FALSE(blocks.enter(c));
  EXPECT_EQ(leave(a), std::vector{&c});
  EXPECT_EQ(leave(c), std::vector{&b});
}

TEST_F(commuting, all_blocks_or_none) {
  task::record &a = make({&x}), &both = make({&y, &x}), &b = make({&y}), &c = make({&z});
  EXPECT_TRUE(blocks.enter(a));
  EXPECT_FALSE(blocks.enter(both)) << "it does not take y while x is another's";
  EXPECT_TRUE(blocks.enter(c));
  EXPECT_FALSE(blocks.enter(b)) << "but nobody younger overtakes it";
  EXPECT_EQ(leave(a), std::vector{&both});
  EXPECT_EQ(leave(both), std::vector{&b});
}

TEST_F(commuting, one_that_leaves_may_start_several) {
  task::record &both = make({&x, &y}), &a = make({&x}), &b = make({&y}), &again = make({&y, &x});
  EXPECT_TRUE(blocks.enter(both));
  EXPECT_FALSE(blocks.enter(again));
  EXPECT_FALSE(blocks.enter(b));
  EXPECT_FALSE(blocks.enter(a));
  EXPECT_EQ(leave(both), (std::vector{&a, &b}));
  EXPECT_TRUE(leave(b).empty()) << "its other block is not free";
  EXPECT_EQ(leave(a), std::vector{&again});
}

TEST_F(commuting, threads_with_several_blocks_each_all_get_through) {
  constexpr int threads = 4, each = 2000, many = 5;
  std::vector<block::record*> all;
  for (int k = 0; k < many; ++k) all.push_back(&table.create(element_type::f64, shape{1}));
  std::vector<std::vector<task::record*>> made(threads);
  std::mt19937 random(7);
  for (auto& mine : made)
    for (int k = 0; k < each; ++k) {
      std::ranges::shuffle(all, random);
      mine.push_back(&make(std::vector(all.begin(), all.begin() + 1 + static_cast<int>(random() % 4))));
    }
  std::array<int, many> users{};  // by block, not atomic: one at a time
  std::atomic<int> ran{0};
  const std::function<void(task::record&)> run = [&](task::record& first) {
    std::vector<task::record*> ready{&first};
    while (!ready.empty()) {
      task::record& t = *ready.back();
      ready.pop_back();
      for (const block::access& a : t.all_accesses()) {
        ++users[a.block->slot - all_first];
        EXPECT_EQ(a.block->committed + 1, a.version);
        a.block->committed = a.version;
      }
      ran.fetch_add(1);
      blocks.leave(t, [&](task::record& next) { ready.push_back(&next); });
    }
  };
  all_first = (*std::ranges::min_element(all, {}, &block::record::slot))->slot;
  {
    std::vector<std::jthread> running;
    for (auto& mine : made)
      running.emplace_back([&] {
        for (task::record* t : mine)
          if (blocks.enter(*t)) run(*t);
      });
  }
  EXPECT_EQ(ran.load(), threads * each);
  int uses = 0, expected = 0;
  for (const int n : users) uses += n;
  for (const auto& mine : made)
    for (task::record* t : mine) expected += t->access_count;
  EXPECT_EQ(uses, expected);
}

}  // namespace
}  // namespace tessera::schedule
