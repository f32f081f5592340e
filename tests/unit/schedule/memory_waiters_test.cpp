// Which tasks of a device may be tried while others wait for memory.
#include "core/schedule/device/memory_waiters.hpp"

#include <gtest/gtest.h>

namespace tessera::schedule {
namespace {

constexpr std::uint64_t unlimited = memory_waiters::no_limit;

TEST(memory_waiters, hold_nothing_back_while_nobody_waits) {
  memory_waiters w(4, 16);
  EXPECT_TRUE(w.empty());
  EXPECT_EQ(w.age_limit(0), unlimited);
  EXPECT_EQ(w.age_limit(100), unlimited);
}

TEST(memory_waiters, count_like_tasks_that_are_enqueued) {
  memory_waiters w(4, 16);
  w.add(20);
  w.add(10);
  EXPECT_FALSE(w.empty());
  EXPECT_EQ(w.age_limit(1), unlimited) << "one under way and two that wait are fewer than four";
  EXPECT_EQ(w.age_limit(2), 10u) << "only what is older than all that wait";
  w.remove(10);
  EXPECT_EQ(w.age_limit(3), 20u);
  EXPECT_EQ(w.age_limit(2), unlimited);
  w.remove(20);
  EXPECT_TRUE(w.empty());
}

TEST(memory_waiters, so_many_younger_ones_overtake_the_oldest_and_no_more) {
  memory_waiters w(4, 3);
  w.add(10);
  w.note_tried(5);  // older: it overtakes nobody
  for (const std::uint64_t younger : {11, 12}) w.note_tried(younger);
  EXPECT_EQ(w.age_limit(0), unlimited);
  w.note_tried(13);
  EXPECT_EQ(w.age_limit(0), 10u);
  w.note_served(12);
  EXPECT_EQ(w.age_limit(0), 10u) << "a younger one is no help to the oldest";
  w.note_served(10);
  EXPECT_EQ(w.age_limit(0), unlimited);
}

TEST(memory_waiters, two_of_one_age_are_two) {
  memory_waiters w(2, 16);
  w.add(7);
  w.add(7);
  w.remove(7);
  EXPECT_FALSE(w.empty());
  EXPECT_EQ(w.age_limit(1), 7u);
}

}  // namespace
}  // namespace tessera::schedule
