// Announced uses, and tasks that begin in another order.
#include "core/transfer/use_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tessera::transfer {
namespace {

using uses = std::vector<std::pair<const block::record*, std::uint64_t>>;

uses pending(use_log& log) {
  uses found;
  log.for_each_pending([&](block::record& b, std::uint64_t sequence) { found.emplace_back(&b, sequence); });
  return found;
}

TEST(use_log, a_use_is_over_when_its_own_task_has_begun) {
  use_log log;
  block::record a, b;
  log.note(a, 1);
  log.note(a, 2);
  log.note(b, 2);
  log.note(a, 3);
  log.begin(3);  // before 1, which only reads it, too
  EXPECT_EQ(pending(log), (uses{{&a, 1}, {&a, 2}, {&b, 2}}));
  log.begin(1);
  EXPECT_EQ(pending(log), (uses{{&a, 2}, {&b, 2}}));
  log.begin(2);
  EXPECT_TRUE(pending(log).empty());
  log.note(b, 4);
  EXPECT_EQ(pending(log), (uses{{&b, 4}}));
}

TEST(use_log, forgets_the_oldest_when_it_is_full) {
  use_log log;
  block::record a;
  for (std::uint64_t k = 1; k <= use_log::capacity + 10; ++k) log.note(a, k);
  const uses left = pending(log);
  ASSERT_EQ(left.size(), use_log::capacity);
  EXPECT_EQ(left.front().second, 11u);
}

}  // namespace
}  // namespace tessera::transfer
