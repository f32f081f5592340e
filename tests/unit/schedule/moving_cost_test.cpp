// Which tasks are too short for another core, by numbers that are given here.
#include "core/schedule/moving_cost.hpp"

#include <gtest/gtest.h>

namespace tessera::schedule {
namespace {

TEST(moving_cost, a_task_is_short_when_its_record_takes_longer_than_it_computes) {
  moving_cost cost;
  const std::uint64_t limit = moving_cost::lines_per_task * std::uint64_t{cost.line()};
  EXPECT_FALSE(cost.is_short(1)) << "nothing is known of it";
  cost.learn_task(1, limit - 1);
  cost.learn_task(2, limit);
  EXPECT_TRUE(cost.is_short(1));
  EXPECT_FALSE(cost.is_short(2));
  EXPECT_FALSE(cost.is_short(3)) << "another operation";
}

TEST(moving_cost, where_cores_are_far_apart_longer_tasks_are_short) {
  moving_cost cost;
  cost.learn_task(1, 500);
  EXPECT_FALSE(cost.is_short(1)) << "the cores are near until it is learnt that they are not";
  for (int k = 0; k < 100; ++k) cost.learn_line(160);
  EXPECT_NEAR(cost.line(), 160, 16);
  EXPECT_TRUE(cost.is_short(1));
  for (int k = 0; k < 100; ++k) cost.learn_line(40);
  EXPECT_NEAR(cost.line(), 40, 4);
  EXPECT_FALSE(cost.is_short(1));
}

TEST(moving_cost, single_samples_that_are_far_off_change_little) {
  moving_cost cost;
  for (int k = 0; k < 20; ++k) cost.learn_line(60), cost.learn_task(1, 30);
  for (int k = 0; k < 3; ++k) cost.learn_line(2'000'000);
  cost.learn_task(1, 1'000'000'000);
  EXPECT_LT(cost.line(), 80u);
  EXPECT_TRUE(cost.is_short(1));
}

TEST(moving_cost, an_operation_whose_tasks_become_longer_or_shorter_is_soon_known) {
  moving_cost cost;
  for (int k = 0; k < 20; ++k) cost.learn_task(1, 30);
  for (int k = 0; k < 8; ++k) cost.learn_task(1, 1'000'000);
  EXPECT_FALSE(cost.is_short(1));
  for (int k = 0; k < 30; ++k) cost.learn_task(1, 30);
  EXPECT_TRUE(cost.is_short(1));
  cost.learn_task(2, 0);
  EXPECT_TRUE(cost.is_short(2)) << "faster than the clock";
}

TEST(moving_cost, a_line_is_timed_by_looking_at_it) {
  moving_cost cost;
  const std::uint64_t word = 1;
  for (int k = 0; k < 1000; ++k) cost.time_line(word);
  EXPECT_GT(cost.line(), 0u);
}

}  // namespace
}  // namespace tessera::schedule
