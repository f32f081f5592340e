#include "core/schedule/submissions.hpp"

#include <gtest/gtest.h>

namespace tessera::schedule {
namespace {

TEST(submissions, count_tasks_and_number_them_in_the_order_of_their_threads) {
  thread_table threads;
  thread_context& mine = threads.publish(threads.make());
  submissions counted(threads, 4, 0);
  const std::uint64_t first = counted.add(mine);
  EXPECT_GT(first, 0u) << "0 is no task's age";
  EXPECT_EQ(counted.add(mine, 3), first + 1);
  EXPECT_EQ(counted.add(mine), first + 4) << "three were numbered at once";
  EXPECT_EQ(threads.submitted(), 5u);
  EXPECT_EQ(counted.window().open_tasks(), 5u);
  EXPECT_TRUE(counted.window().tasks_full());
}

}  // namespace
}  // namespace tessera::schedule
