// Sums of accumulates in stages: what is summed next, and what becomes of the private copies.
#include "core/schedule/reductions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/block/table.hpp"

namespace tessera::schedule {
namespace {

constexpr reduction_place host_with(std::uint64_t room) { return {.is_host = true, .room = room}; }
constexpr reduction_place device_with(std::uint64_t room) { return {.is_host = false, .room = room}; }

TEST(reduction_stages, there_are_none_where_a_place_has_room_for_all) {
  EXPECT_FALSE(plan_stage(5, std::vector{host_with(6)})) << "five copies and their sum";
  EXPECT_FALSE(plan_stage(5, std::vector{host_with(3), device_with(6)})) << "a device sums them";
}

TEST(reduction_stages, take_as_many_copies_as_host_memory_holds) {
  const auto stage = plan_stage(5, std::vector{host_with(3), device_with(4)});
  ASSERT_TRUE(stage);
  EXPECT_EQ(stage->place, 0u) << "stages are computed on the host";
  EXPECT_EQ(stage->copies, 3u);
}

TEST(reduction_stages, are_computed_in_the_largest_host_memory) {
  const auto stage = plan_stage(9, std::vector{device_with(2), host_with(3), host_with(5), host_with(5)});
  ASSERT_TRUE(stage);
  EXPECT_EQ(stage->place, 2u) << "of equal ones the first";
  EXPECT_EQ(stage->copies, 5u);
}

TEST(reduction_stages, need_two_copies_and_room_for_two) {
  EXPECT_FALSE(plan_stage(5, std::vector{host_with(1)}));
  EXPECT_FALSE(plan_stage(1, std::vector{host_with(1)}));
  EXPECT_FALSE(plan_stage(5, std::vector{host_with(0), device_with(4)})) << "the host does not run the reduction";
  EXPECT_FALSE(plan_stage(5, {}));
}

TEST(reduction_stages, come_to_an_end_whatever_the_room) {
  std::mt19937 random(20261126);
  for (int round = 0; round < 2000; ++round) {
    const auto below = [&](std::uint32_t most) { return random() % most; };
    std::vector<reduction_place> places{host_with(2 + below(6))};
    for (std::uint32_t k = below(4); k > 0; --k) places.push_back({.is_host = below(2) == 0, .room = below(8)});
    std::size_t copies = below(40);
    while (const auto stage = plan_stage(copies, places)) {
      ASSERT_LT(stage->place, places.size());
      ASSERT_TRUE(places[stage->place].is_host);
      ASSERT_GE(stage->copies, 2u) << "each stage leaves fewer copies";
      ASSERT_LE(stage->copies, std::min<std::size_t>(copies, places[stage->place].room));
      copies -= stage->copies - 1;
    }
    std::uint64_t most = 0;
    for (const reduction_place& e : places) most = std::max(most, e.room);
    EXPECT_TRUE(copies + 1 <= most || copies < 2) << copies << " copies are left, and no place has room for them";
  }
}

TEST(reductions, a_stage_frees_the_copies_that_it_has_summed) {
  block::table blocks;
  block::record& base = blocks.create(element_type::f64, {4});
  auto* const group = new block::accumulation;  // the reduction's, which ends it below
  group->base = &base;
  std::vector<block::record*> copies;
  for (int k = 0; k < 4; ++k) {
    copies.push_back(&blocks.create(element_type::f64, {4}));
    group->copies.push_back({.block = copies.back()});
  }
  task::record t;
  reductions::make(t, base, *group);
  const auto reads = [](block::record* b) {
    return block::access{.block = b, .version = 0, .intent = intent::read, .flags = 0, .space = 0};
  };
  t.flags |= task::flag_many_accesses | task::flag_prepared | task::flag_acquired;
  t.place = 0;
  t.more->accesses = {t.accesses[0], reads(copies[1]), reads(copies[2])};
  t.more->accesses[0].block = copies[0];

  std::vector<block::record*> destroyed;
  const auto destroy = [&](block::record& b) { destroyed.push_back(&b); };
  EXPECT_TRUE(reductions::next_stage(t, destroy));
  EXPECT_THAT(destroyed, ::testing::ElementsAre(copies[1], copies[2]));
  ASSERT_EQ(group->copies.size(), 2u);
  EXPECT_EQ(group->copies[0].block, copies[0]);
  EXPECT_EQ(group->copies[1].block, copies[3]);
  EXPECT_EQ(t.flags & (task::flag_prepared | task::flag_acquired), 0) << "it is prepared anew";
  EXPECT_EQ(t.place, task::no_place) << "and placed anew";

  t.more->accesses = {t.accesses[0], reads(copies[0]), reads(copies[3])};  // the rest, into the block itself
  EXPECT_FALSE(reductions::next_stage(t, destroy));
  destroyed.clear();
  reductions({}).end_group(t, destroy);
  EXPECT_THAT(destroyed, ::testing::ElementsAre(copies[0], copies[3]));
}

TEST(reductions, the_first_missing_adder_says_why_there_is_no_sum) {
  block::table blocks;
  block::accumulation group;
  group.base = &blocks.create(element_type::f64, {4});
  task::record adder, reduction;
  adder.need_more().sums = {nullptr, &group};
  reductions::make(reduction, *group.base, group);
  EXPECT_EQ(reductions::why_missing(reduction), nullptr);
  const auto first = std::make_shared<const block::failure>(block::failure{.text = "first"});
  reductions::note_missing(adder, first);
  reductions::note_missing(adder, std::make_shared<const block::failure>(block::failure{.text = "second"}));
  EXPECT_EQ(reductions::why_missing(reduction), first);
}

TEST(reductions, an_adder_gives_back_its_own_copies_only) {
  block::table blocks;
  block::accumulation group;
  group.base = &blocks.create(element_type::f64, {4});
  for (int k = 0; k < 2; ++k)
    group.copies.push_back({.block = &blocks.create(element_type::f64, {4}), .space = 0, .busy = true});
  task::record adder;
  adder.flags = task::flag_accumulates;
  adder.access_count = 1;
  adder.accesses[0] = {.block = group.base, .version = 0, .intent = intent::update, .flags = 0, .space = 0};
  adder.need_more().sums = {&group};
  reductions({}).give_back(adder);
  EXPECT_TRUE(group.copies[0].busy && group.copies[1].busy) << "it has none yet";
  adder.flags |= task::flag_prepared;
  adder.accesses[0].block = group.copies[1].block;
  reductions({}).give_back(adder);
  EXPECT_TRUE(group.copies[0].busy);
  EXPECT_FALSE(group.copies[1].busy);
}

}  // namespace
}  // namespace tessera::schedule
