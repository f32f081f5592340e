// How many equal tasks a device takes at a time.
#include <gtest/gtest.h>

#include "core/schedule/device/batches.hpp"

namespace tessera::schedule {
namespace {

constexpr batch_bounds gpu{.tasks = 64, .operations_per_second = 1e13, .memory = std::uint64_t{1} << 30, .streams = 1};

TEST(batch_bounds, no_more_than_asked_for_and_than_are_ready) {
  EXPECT_EQ(gpu.most(1e4, 1000, 1000), 64u);
  EXPECT_EQ(gpu.most(1e4, 1000, 5), 5u);
  EXPECT_EQ(gpu.most(1e4, 1000, 0), 1u);
  EXPECT_EQ(batch_bounds{}.most(1e4, 1000, 1000), 1u);
}

TEST(batch_bounds, what_is_ready_is_dealt_to_the_streams) {
  batch_bounds two = gpu;
  two.streams = 2;
  EXPECT_EQ(two.most(1e4, 1000, 9), 5u);
  EXPECT_EQ(two.most(1e4, 1000, 1), 1u);
}

TEST(batch_bounds, long_tasks_are_alone_and_others_add_up_to_a_bounded_time) {
  EXPECT_EQ(gpu.most(2.1e7, 1000, 1000), 1u);  // 2.1 us
  EXPECT_EQ(gpu.most(2e7, 1000, 1000), 25u);   // 2 us
  EXPECT_EQ(gpu.most(1e7, 1000, 1000), 50u);
  EXPECT_EQ(gpu.most(0, 1000, 1000), 64u);  // not known
  batch_bounds unknown = gpu;
  unknown.operations_per_second = 0;
  EXPECT_EQ(unknown.most(1e12, 1000, 1000), 64u);
}

TEST(batch_bounds, blocks_take_an_eighth_of_the_memory) {
  EXPECT_EQ(gpu.most(1e4, std::uint64_t{1} << 24, 1000), 8u);
  EXPECT_EQ(gpu.most(1e4, std::uint64_t{1} << 28, 1000), 1u);
  EXPECT_EQ(gpu.most(1e4, 0, 1000), 64u);
}

}  // namespace
}  // namespace tessera::schedule
