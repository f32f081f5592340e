// Announced uses, and tasks that begin in another order.
#include "core/transfer/use_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace tessera::transfer {
namespace {

std::uint64_t next(block::record& b) { return use_log::next_use(b).age; }

TEST(use_log, a_use_is_over_when_its_own_task_has_begun) {
  use_log log;
  block::record a, b;
  EXPECT_EQ(next(a), use_log::never);
  log.note(a, 1, false);
  log.note(a, 2, false);
  log.note(b, 2, false);
  log.note(a, 3, false);
  log.begin(3);  // before 1, which only reads it, too
  EXPECT_EQ(next(a), 1u);
  EXPECT_EQ(next(b), 2u);
  log.begin(1);
  EXPECT_EQ(next(a), 2u);
  log.begin(2);
  EXPECT_EQ(next(a), use_log::never);
  EXPECT_EQ(next(b), use_log::never);
  log.note(b, 4, false);
  EXPECT_EQ(next(b), 4u);
  EXPECT_EQ(next(a), use_log::never);
}

TEST(use_log, knows_whether_a_block_will_be_written) {
  use_log log;
  block::record a;
  EXPECT_FALSE(use_log::will_be_written(a));
  log.note(a, 1, true);
  log.note(a, 2, false);
  log.note(a, 3, true);
  log.note(a, 4, false);
  EXPECT_TRUE(use_log::will_be_written(a));
  log.begin(1);
  EXPECT_TRUE(use_log::will_be_written(a));
  log.begin(3);
  EXPECT_FALSE(use_log::will_be_written(a));
  EXPECT_EQ(next(a), 2u);
}

TEST(use_log, expects_uses_until_others_are_announced) {
  use_log log;
  block::record a;
  log.note(a, 1, false);
  log.expect(a, 10, true);
  EXPECT_FALSE(use_log::next_use(a).expected);
  EXPECT_TRUE(use_log::will_be_written(a));
  log.begin(1);
  EXPECT_EQ(next(a), 10u);
  EXPECT_TRUE(use_log::next_use(a).expected);
  log.note(a, 12, false);  // came later than expected
  EXPECT_EQ(next(a), 12u);
  EXPECT_FALSE(use_log::next_use(a).expected);
  EXPECT_FALSE(use_log::will_be_written(a));
  log.begin(12);
  EXPECT_EQ(next(a), use_log::never);
  log.expect(a, 20, false);
  log.begin(20);  // by another task
  EXPECT_EQ(next(a), use_log::never);
}

TEST(use_log, forgets_the_oldest_when_it_is_full) {
  use_log log;
  block::record a, b;
  log.note(b, 1, false);
  for (std::uint64_t k = 2; k <= use_log::capacity; ++k) log.note(a, k, false);
  EXPECT_EQ(next(b), 1u);
  log.note(a, use_log::capacity + 1, false);
  EXPECT_EQ(next(b), use_log::never);
  EXPECT_EQ(next(a), 2u);
  log.note(b, use_log::capacity + 2, false);  // in the place of a's first: of a only the last is known
  EXPECT_EQ(next(a), use_log::capacity + 1);
  EXPECT_EQ(next(b), use_log::capacity + 2);
}

TEST(use_log, one_block_announced_by_several) {
  use_log first, second;
  block::record a;
  first.note(a, 5, false);
  second.note(a, 3, false);
  first.note(a, 6, false);
  first.begin(5);
  EXPECT_EQ(next(a), 3u);
  second.begin(3);
  EXPECT_EQ(next(a), 6u);
}

TEST(use_log, like_a_list_of_all_uses) {
  use_log log;
  constexpr std::size_t blocks = 40;
  const auto records = std::make_unique<block::record[]>(blocks);
  std::vector<std::vector<std::uint64_t>> pending(blocks);
  std::vector<std::uint64_t> waiting;  // ages
  std::mt19937 random(7);
  std::uint64_t age = 0;
  for (int step = 0; step < 20000; ++step) {
    if (waiting.size() < 200 && random() % 2 == 0) {
      waiting.push_back(++age);
      for (int k = 0; k < 3; ++k) {
        const std::size_t b = random() % blocks;
        log.note(records[b], age, false);
        pending[b].push_back(age);
      }
    } else if (!waiting.empty()) {
      const std::size_t which = random() % std::min<std::size_t>(waiting.size(), 8);
      const std::uint64_t begun = waiting[which];
      waiting.erase(waiting.begin() + std::ptrdiff_t(which));
      log.begin(begun);
      for (auto& uses : pending) std::erase(uses, begun);
    }
    const std::size_t b = random() % blocks;
    ASSERT_EQ(next(records[b]), pending[b].empty() ? use_log::never : pending[b].front()) << "step " << step;
  }
}

TEST(use_log, while_somebody_evicts) {
  use_log log;
  constexpr std::uint64_t tasks = 50000;
  const auto records = std::make_unique<block::record[]>(10);
  std::thread evictor([&] {
    std::uint64_t seen = 0;
    while (seen != tasks) {
      for (std::size_t b = 0; b < 9; ++b) use_log::next_use(records[b]);
      const std::uint64_t at = use_log::next_use(records[9]).age;
      if (at == use_log::never) continue;
      ASSERT_GE(at, seen) << "uses come in order";
      seen = at;
    }
  });
  for (std::uint64_t k = 1; k <= tasks; ++k) {
    for (std::size_t b = 0; b < 10; ++b)
      if (b == 9 || k % (b + 1) == 0) log.note(records[b], k, false);
    if (k > 1) log.begin(k - 1);
  }
  evictor.join();
}

}  // namespace
}  // namespace tessera::transfer
