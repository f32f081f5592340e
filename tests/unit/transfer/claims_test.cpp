// Who waits longest for memory gets it, and keeps what it has meanwhile.
#include "core/transfer/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::transfer {
namespace {

using accesses = std::vector<block::access>;

TEST(claims, the_oldest_has_it_until_it_ends) {
  claims c(3);
  EXPECT_FALSE(c.any());
  c.reserve_priority(1, 7, {});
  c.reserve_priority(1, 9, {});
  EXPECT_TRUE(c.may_take(1, 7));
  EXPECT_TRUE(c.may_take(1, 3)) << "older than he";
  EXPECT_FALSE(c.may_take(1, 9));
  EXPECT_TRUE(c.may_take(1, 0)) << "whoever has no age";
  EXPECT_TRUE(c.may_take(2, 9)) << "another memory";
  c.reserve_priority(1, 3, {});
  EXPECT_FALSE(c.may_take(1, 7));
  EXPECT_TRUE(c.end(7, {}).empty());
  EXPECT_EQ(c.end(3, {}), block::space_set::of(1));
  EXPECT_TRUE(c.may_take(1, 9));
  EXPECT_FALSE(c.any());
}

TEST(claims, reach_the_memories_behind) {
  claims c(3);
  c.extend_to_parent(2, 1, 5);
  EXPECT_FALSE(c.any()) << "he has no claim";
  c.reserve_priority(2, 5, {});
  c.extend_to_parent(2, 1, 5);
  EXPECT_FALSE(c.may_take(1, 6));
  EXPECT_EQ(c.end(5, {}), block::space_set::of(1).add(2));
}

TEST(claims, keep_blocks_from_the_younger) {
  rig r({"fake"});
  block::record &mine = r.make(), &other = r.make();
  claims c(2);
  const accesses task{rig::use(mine, intent::read)};
  c.reserve_priority(1, 5, task);
  EXPECT_THAT(c.protected_blocks(6), ::testing::ElementsAre(&mine));
  EXPECT_THAT(c.protected_blocks(5), ::testing::ElementsAre(&mine)) << "from itself, too";
  EXPECT_THAT(c.protected_blocks(0), ::testing::ElementsAre(&mine));
  EXPECT_THAT(c.protected_blocks(4), ::testing::IsEmpty());
  c.end(5, task);
  EXPECT_THAT(c.protected_blocks(6), ::testing::IsEmpty());
  r.put(other, 0, 1);
  r.end();
}

TEST(claims, of_one_age_are_told_apart) {
  rig r({"fake"});
  block::record &mine = r.make(), &other = r.make();
  claims c(2);
  const accesses task{rig::use(mine, intent::read)}, another{rig::use(other, intent::read)};
  c.reserve_priority(1, 5, task);
  c.reserve_priority(1, 5, another);
  EXPECT_TRUE(c.end(5, another).empty()) << "the task of another thread";
  EXPECT_FALSE(c.may_take(1, 6));
  EXPECT_THAT(c.protected_blocks(6), ::testing::ElementsAre(&mine));
  EXPECT_EQ(c.end(5, task), block::space_set::of(1));
  EXPECT_FALSE(c.any());
  for (block::record* b : {&mine, &other}) r.put(*b, 0, 1);
  r.end();
}

TEST(claims, are_suspended_until_a_task_has_acquired) {
  claims c(2);
  c.reserve_priority(1, 5, {});
  EXPECT_EQ(c.suspend(), block::space_set::of(1));
  c.reserve_priority(1, 5, {});
  EXPECT_TRUE(c.may_take(1, 6));
  c.resume();
  c.reserve_priority(1, 5, {});
  EXPECT_FALSE(c.may_take(1, 6));
}

TEST(coherence, nobody_younger_takes_memory_while_somebody_waits) {
  rig r({"fake"}, 2);
  block::record &pinned = r.make(), &loose = r.make(), &x1 = r.make(), &x2 = r.make(), &y = r.make();
  for (block::record* b : {&pinned, &loose, &x1, &x2, &y}) r.put(*b, 0, 1);
  accesses running{rig::use(pinned, intent::read)};
  r.hold(running, 1);
  r.get(loose, 1);
  accesses older{rig::use(x1, intent::read), rig::use(x2, intent::read)}, younger{rig::use(y, intent::read)};
  acquisition got;
  r.is->acquire(older, 1, got, 1);
  EXPECT_EQ(got.outcome, outcome::no_memory);
  EXPECT_TRUE(r.is->make_room(1, got.missing, 1));
  EXPECT_EQ(loose.find(1), nullptr);
  r.is->acquire(younger, 1, got, 2);
  EXPECT_EQ(got.outcome, outcome::no_memory) << "there is room for one block, but it is wanted";
  EXPECT_EQ(got.missing_bytes, 0u) << "nothing is to leave for it";
  const std::uint64_t seen = r.spaces[1]->waiters().events();
  r.done(running);
  const std::uint64_t two[] = {block_bytes, block_bytes};
  r.is->make_room(1, two, 1);
  r.is->acquire(older, 1, got, 1);
  EXPECT_EQ(got.outcome, outcome::ready);
  EXPECT_NE(r.spaces[1]->waiters().events(), seen) << "waiters are woken";
  r.settle();
  r.is->acquire(younger, 1, got, 2);
  EXPECT_EQ(got.outcome, outcome::no_memory);
  EXPECT_EQ(got.missing_bytes, block_bytes) << "now it is its turn";
  r.done(older);
  EXPECT_TRUE(r.is->make_room(1, got.missing, 2));
  r.is->acquire(younger, 1, got, 2);
  EXPECT_EQ(got.outcome, outcome::ready);
  r.settle();
  r.done(younger);
  r.end();
}

TEST(coherence, what_somebody_who_waits_has_does_not_leave_for_the_younger) {
  rig r({"fake"}, 2);
  block::record &here = r.make(), &missing = r.make(), &pinned = r.make();
  for (block::record* b : {&here, &missing, &pinned}) r.put(*b, 0, 1);
  accesses running{rig::use(pinned, intent::read)};
  r.hold(running, 1);
  r.get(here, 1);
  accesses older{rig::use(here, intent::read), rig::use(missing, intent::read)};
  acquisition got;
  r.is->acquire(older, 1, got, 3);
  EXPECT_EQ(got.outcome, outcome::no_memory);
  EXPECT_FALSE(r.is->evict(1, block_bytes, 4));
  EXPECT_NE(here.find(1), nullptr);
  r.is->give_up(older, 3);
  EXPECT_TRUE(r.is->evict(1, block_bytes, 4));
  r.done(running);
  r.end();
}

TEST(coherence, what_leaves_already_makes_room) {
  rig r({"fake"}, 2);
  block::record &a = r.make(), &b = r.make();
  r.put(a, 1, 1);
  r.put(b, 1, 2);
  const std::uint64_t one[] = {block_bytes};
  EXPECT_TRUE(r.is->make_room(1, one, 1));
  EXPECT_TRUE(r.is->make_room(1, one, 1)) << "it is on its way";
  r.settle();
  EXPECT_EQ(r.is->statistics().written_back, 1u);
  EXPECT_EQ(r.spaces[1]->used(), block_bytes);
  r.end();
}

}  // namespace
}  // namespace tessera::transfer
