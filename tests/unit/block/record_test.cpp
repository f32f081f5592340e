// Replicas of one block, and the packed forms beside them.
#include "core/block/record.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/block/table.hpp"

namespace tessera::block {
namespace {

TEST(chunk, packs_slab_and_offset) {
  EXPECT_FALSE(chunk{});
  const chunk c = chunk::at(65535, (std::uint64_t{1} << 48) - 256);
  EXPECT_TRUE(static_cast<bool>(c));
  EXPECT_EQ(c.slab(), 65535u);
  EXPECT_EQ(c.offset(), (std::uint64_t{1} << 48) - 256);
  EXPECT_TRUE(static_cast<bool>(chunk::at(0, 0)));
}

TEST(record, costs_what_the_design_says) {
  EXPECT_EQ(sizeof(record), 256u);
  EXPECT_EQ(alignof(record), 64u);
  EXPECT_EQ(sizeof(flow_record), 64u);
  EXPECT_EQ(sizeof(replica), 48u);
  EXPECT_EQ(sizeof(access), 16u);
}

TEST(record, finds_replicas_beyond_the_first_two) {
  table blocks;
  record& b = blocks.create(element_type::f64, shape{4});
  EXPECT_EQ(b.find(0), nullptr);
  for (std::uint16_t space = 0; space < 7; ++space) {
    replica& r = b.add();
    EXPECT_EQ(r.state, replica_state::absent);
    r.space = space;
    r.state = replica_state::valid;
    r.version = space + 10u;
  }
  for (std::uint16_t space = 0; space < 7; ++space) {
    ASSERT_NE(b.find(space), nullptr) << space;
    EXPECT_EQ(b.find(space)->version, space + 10u);
  }
  EXPECT_EQ(b.find(7), nullptr);
  ASSERT_TRUE(b.more);
  EXPECT_EQ(b.more->size(), 5u);

  // Free entries are found by nobody and used again, inline ones first.
  b.find(1)->state = replica_state::absent;
  b.find(4)->state = replica_state::absent;
  EXPECT_EQ(b.find(1), nullptr);
  EXPECT_EQ(b.find(4), nullptr);
  std::set<std::uint16_t> seen;
  b.for_each_replica([&](replica& r) { EXPECT_TRUE(seen.insert(r.space).second); });
  EXPECT_EQ(seen, (std::set<std::uint16_t>{0, 2, 3, 5, 6}));
  replica& first = b.add();
  EXPECT_EQ(&first, &b.replicas[1]);
  first.space = 40;
  first.state = replica_state::filling;
  replica& second = b.add();
  second.space = 41;
  second.state = replica_state::valid;
  EXPECT_EQ(b.more->size(), 5u) << "no new entry while one is free";
  EXPECT_EQ(b.find(40), &first);
  EXPECT_NE(b.find(41), nullptr);
}

TEST(record, sets_of_valid_replicas) {
  table blocks;
  record& b = blocks.create(element_type::u8, shape{1});
  EXPECT_FALSE(b.valid_in(0));
  b.valid_spaces = space_set::of(63);
  EXPECT_TRUE(b.valid_in(63));
  EXPECT_TRUE(b.only_valid_in(63));
  b.valid_spaces.add(0);
  EXPECT_TRUE(b.valid_in(0));
  EXPECT_FALSE(b.only_valid_in(63));
}

}  // namespace
}  // namespace tessera::block
