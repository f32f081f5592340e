// Which replica leaves first, by each policy, and how full a memory may be before blocks leave although no task waits.
#include <gtest/gtest.h>

#include "core/transfer/use_log.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::transfer {
namespace {

using accesses = std::vector<block::access>;

/// A device of `count` blocks, full of blocks that the host has as well, which came in the order of their numbers.
struct full : rig {
  full(std::uint64_t count, eviction_settings how) : rig({"fake"}, count, false, 4 * 4096, 0, how) {
    for (std::uint64_t k = 0; k < count; ++k) {
      blocks.push_back(&make());
      put(*blocks.back(), 0, static_cast<std::int64_t>(k));
      get(*blocks.back(), 1);
    }
  }
  /// The numbers of those that are still there.
  std::vector<int> there() {
    std::vector<int> out;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      if (blocks[k]->find(1) != nullptr) out.push_back(static_cast<int>(k));
    return out;
  }
  /// Somebody wants more than there is.
  void overflow() {
    accesses more{use(make(), intent::write)};
    EXPECT_EQ(acquire(more, 1).outcome, outcome::no_memory);
  }
  std::vector<block::record*> blocks;
};

/// The order in which four blocks leave. The one that came first was used last; the third will be used last, the others
/// in the order 3, 0, 1.
std::vector<int> order_of_leaving(eviction_policy policy) {
  full r(4, {.policy = policy, .write_ahead = 0});
  r.get(*r.blocks[2], 1);
  r.get(*r.blocks[0], 1);
  use_log log;
  std::uint64_t age = 10;
  for (const int k : {3, 0, 1, 2}) log.note(*r.blocks[static_cast<std::size_t>(k)], ++age, false);
  std::vector<int> left;
  for (std::vector<int> before = r.there(); !before.empty(); before = r.there()) {
    EXPECT_TRUE(r.is->evict(1, block_bytes));
    const std::vector<int> now = r.there();
    std::ranges::set_difference(before, now, std::back_inserter(left));
    EXPECT_EQ(now.size() + 1, before.size()) << "one block was asked for";
    if (now.size() == before.size()) break;
  }
  r.end();
  return left;
}

TEST(eviction, memory_of_the_program_never_leaves) {
  rig r({"fake"}, 4);
  std::vector<std::int64_t> own(block_bytes / 8, 7);
  block::record& b = r.make();
  block::record* const all[] = {&b};
  r.is->adopted().adopt(all, own.data(), 0);
  EXPECT_EQ(r.get(b, 1), 7) << "so that it could leave home without a copy";
  r.spaces[0]->residents().add(
      b);  // as in a list from before the record of a block that ended was used again for this one
  EXPECT_FALSE(r.is->evict(0, block_bytes));
  ASSERT_NE(b.find(0), nullptr);
  EXPECT_TRUE(r.spaces[0]->foreign().has(b.find(0)->where));
  r.end();
}

TEST(eviction, by_next_use_the_one_needed_last_leaves_first) {
  EXPECT_EQ(order_of_leaving(eviction_policy::next_use), (std::vector<int>{2, 1, 0, 3}));
}
TEST(eviction, by_lru_the_one_not_used_for_longest_leaves_first) {
  EXPECT_EQ(order_of_leaving(eviction_policy::lru), (std::vector<int>{1, 3, 2, 0}));
}
TEST(eviction, by_fifo_the_one_that_came_first_leaves_first) {
  EXPECT_EQ(order_of_leaving(eviction_policy::fifo), (std::vector<int>{0, 1, 2, 3}));
}

TEST(room, free_pieces_are_joined_by_their_neighbours) {
  full r(12, {.policy = eviction_policy::next_use, .write_ahead = 0});
  use_log log;
  std::uint64_t age = 10;
  for (const int k : {2, 7, 3, 11, 8, 6, 10, 5, 0, 9, 1, 4})
    log.note(*r.blocks[static_cast<std::size_t>(k)], ++age, false);
  EXPECT_TRUE(r.is->evict(1, 2 * block_bytes));
  ASSERT_EQ(r.there(), (std::vector<int>{0, 2, 3, 5, 6, 7, 8, 9, 10, 11})) << "1 and 4 will be used last";
  block::record& large = r.make(2 * block_bytes);
  accesses task{rig::use(large, intent::write)};
  const acquisition got = r.acquire(task, 1);
  ASSERT_EQ(got.outcome, outcome::no_memory) << "as much is free, in two pieces";
  EXPECT_TRUE(r.is->make_room(1, got.missing, 1));
  EXPECT_EQ(r.there(), (std::vector<int>{2, 3, 5, 6, 7, 8, 9, 10, 11}))
      << "of 0, 2, 3 and 5 the one that will be used last; 9, which will be later, has no free neighbour";
  EXPECT_FALSE(r.is->make_room(1, got.missing, 1)) << "it fits";
  EXPECT_EQ(r.there().size(), 9u);
  ASSERT_EQ(r.acquire(task, 1).outcome, outcome::ready);
  r.settle();
  r.done(task);
  r.end();
}

TEST(room, scratch_memory_is_reserved_with_the_blocks_the_largest_first) {
  full r(8, {.policy = eviction_policy::next_use, .write_ahead = 0});
  use_log log;
  std::uint64_t age = 10;
  for (const int k : {0, 2, 3, 6, 7, 4, 5, 1}) log.note(*r.blocks[static_cast<std::size_t>(k)], ++age, false);
  EXPECT_TRUE(r.is->evict(1, 3 * block_bytes));
  ASSERT_EQ(r.there(), (std::vector<int>{0, 2, 3, 6, 7}));
  // By itself the scratch memory would take the piece that was freed last, and split the only two that are neighbours.
  block::record& large = r.make(2 * block_bytes);
  accesses task{rig::use(large, intent::write)};
  acquisition got;
  got.scratch_bytes = block_bytes;
  r.is->acquire(task, 1, got);
  ASSERT_EQ(got.outcome, outcome::ready);
  EXPECT_TRUE(got.scratch);
  r.settle();
  r.done(task);
  accesses again{rig::use(large, intent::update)};
  acquisition none;
  none.scratch_bytes = block_bytes;
  r.is->acquire(again, 1, none);
  EXPECT_EQ(none.outcome, outcome::no_memory) << "the block is there, scratch memory is not";
  EXPECT_EQ(none.missing, (std::vector<std::uint64_t>{block_bytes}));
  EXPECT_FALSE(none.scratch);
  r.is->space_at(1).release(got.scratch, got.scratch_bytes);
  r.is->acquire(again, 1, none);
  ASSERT_EQ(none.outcome, outcome::ready);
  r.settle();
  r.done(again);
  r.is->space_at(1).release(none.scratch, none.scratch_bytes);
  r.end();
}

TEST(room, sole_copies_move_twice) {
  full r(2, {.policy = eviction_policy::next_use, .write_ahead = 0});
  r.put(*r.blocks[0], 1, 70);
  use_log log;
  log.note(*r.blocks[1], 20, false);
  log.note(*r.blocks[0], 30, false);
  const std::uint64_t one[] = {block_bytes};
  EXPECT_TRUE(r.is->make_room(1, one, 10));
  EXPECT_EQ(r.there(), (std::vector<int>{0}));
  r.end();
}

TEST(room, what_is_copied_ahead_is_what_leaves_next) {
  full r(4, {.policy = eviction_policy::next_use, .write_ahead = 0.25});
  r.put(*r.blocks[0], 1, 70);
  use_log log;
  std::uint64_t age = 10;
  for (const int k : {3, 2, 1, 0}) log.note(*r.blocks[static_cast<std::size_t>(k)], age += 5, false);
  const std::uint64_t one[] = {block_bytes};
  EXPECT_TRUE(r.is->make_room(1, one, 10));
  EXPECT_EQ(r.there(), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(r.copies(1, 0), 0u) << "block 2 is the next, and on the host already; the sole copy stays longer";
  r.end();
}

TEST(room, by_lru_and_fifo_the_first_in_their_order_leaves) {
  for (const eviction_policy policy : {eviction_policy::lru, eviction_policy::fifo}) {
    full r(4, {.policy = policy, .write_ahead = 0});
    r.get(*r.blocks[0], 1);
    const std::uint64_t two[] = {block_bytes, block_bytes};
    EXPECT_TRUE(r.is->make_room(1, two, 1));
    EXPECT_EQ(r.there(), (policy == eviction_policy::lru ? std::vector<int>{0, 3} : std::vector<int>{2, 3}));
    r.end();
  }
}

TEST(room, what_stays_after_all_is_replaced_by_another) {
  full r(2, {.policy = eviction_policy::next_use, .write_ahead = 0});
  r.put(*r.blocks[0], 1, 70);
  use_log log;
  log.note(*r.blocks[1], 20, false);
  log.note(*r.blocks[0], 1000, false);
  accesses at_home{rig::use(*r.blocks[0], intent::write)};
  acquisition got;
  r.is->acquire(at_home, 0, got, 0);  // what is about to be overwritten there is not copied there
  ASSERT_EQ(got.outcome, outcome::ready);
  const std::uint64_t one[] = {block_bytes};
  EXPECT_TRUE(r.is->make_room(1, one, 10));
  EXPECT_EQ(r.there(), (std::vector<int>{0}));
  r.settle();
  r.done(at_home);
  r.end();
}

constexpr eviction_settings marks{
    .policy = eviction_policy::lru, .high_watermark = 0.8, .low_watermark = 0.5, .write_ahead = 0};

TEST(watermarks, count_once_a_memory_has_been_full) {
  full r(10, marks);
  r.is->relieve(1, 0);
  EXPECT_EQ(r.there().size(), 10u) << "no task has asked for more than there is";
  r.overflow();
  r.is->relieve(1, 0);
  EXPECT_EQ(r.there(), (std::vector<int>{5, 6, 7, 8, 9})) << "down to the lower mark, the least recently used first";
  EXPECT_EQ(r.spaces[1]->statistics().used_bytes, 5 * block_bytes);
  EXPECT_EQ(r.is->statistics().dropped, 5u);
  r.end();
}

TEST(watermarks, nothing_leaves_up_to_the_upper_one) {
  full r(10, marks);
  r.overflow();
  EXPECT_TRUE(r.is->evict(1, 2 * block_bytes));
  ASSERT_EQ(r.spaces[1]->statistics().used_bytes, 8 * block_bytes) << "as much as the mark says, not more";
  r.is->relieve(1, 0);
  EXPECT_EQ(r.there().size(), 8u);
  r.get(*r.blocks[0], 1);
  r.is->relieve(1, 0);
  EXPECT_EQ(r.there(), (std::vector<int>{0, 6, 7, 8, 9}));
  r.end();
}

TEST(watermarks, what_is_on_its_way_out_counts_as_gone) {
  full r(10, marks);
  for (std::size_t k = 0; k < 10; ++k)
    r.put(*r.blocks[k], 1, 70);  // sole copies: they leave when they have been written back
  r.overflow();
  r.is->relieve(1, 0);
  r.is->relieve(1, 0);
  r.settle();
  EXPECT_EQ(r.there(), (std::vector<int>{5, 6, 7, 8, 9}));
  EXPECT_EQ(r.is->statistics().written_back, 5u);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(r.words(*r.blocks[k], 0)[0], 70) << k;
  r.end();
}

TEST(watermarks, what_is_needed_sooner_stays) {
  full r(10, {.policy = eviction_policy::next_use, .high_watermark = 0.8, .low_watermark = 0.5, .write_ahead = 0});
  use_log log;
  for (std::size_t k = 0; k < 10; ++k) log.note(*r.blocks[k], 10 + k, false);
  r.overflow();
  r.is->relieve(1, 18);  // for a task between the users of 7 and 8
  EXPECT_EQ(r.there(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  r.end();
}

TEST(watermarks, a_memory_without_a_parent_keeps_what_it_has) {
  rig r({"fake"}, 4, false, 4 * 4096, 70, marks);
  std::vector<block::record*> blocks;
  for (;;) {
    blocks.push_back(&r.make());
    accesses one{rig::use(*blocks.back(), intent::write)};
    const acquisition got = r.acquire(one, 0);
    if (got.outcome == outcome::no_memory) break;
    r.done(one);
  }
  const std::uint64_t used = r.spaces[0]->statistics().used_bytes;
  r.is->relieve(0, 0);
  r.settle();
  EXPECT_EQ(r.spaces[0]->statistics().used_bytes, used);
  r.end();
}

}  // namespace
}  // namespace tessera::transfer
