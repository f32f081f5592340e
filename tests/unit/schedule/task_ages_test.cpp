// Ages of tasks: exact within a thread, and no thread lags far behind the others.
#include "core/schedule/task_ages.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tessera::schedule {
namespace {

TEST(task_ages, grow_within_a_thread_without_gaps) {
  task_ages ages;
  const auto mine = std::make_unique<thread_context>(std::uint16_t{0});
  std::uint64_t expected = 1;
  for (std::uint64_t count = 1; count < 100; ++count) {
    EXPECT_EQ(ages.take(*mine, count), expected);
    expected += count;
  }
}

TEST(task_ages, follow_what_other_threads_have_told) {
  task_ages ages;
  const auto fast = std::make_unique<thread_context>(std::uint16_t{0}),
             slow = std::make_unique<thread_context>(std::uint16_t{1});
  std::uint64_t last = 0;
  for (int k = 0; k < 1000; ++k) last = ages.take(*fast, 1);
  const std::uint64_t next = ages.take(*slow, 1);
  EXPECT_LE(last, next + 32) << "each tells its age every 32 tasks";
  EXPECT_GT(ages.take(*slow, 1), next);
}

}  // namespace
}  // namespace tessera::schedule
