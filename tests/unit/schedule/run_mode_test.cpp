// What is fixed about a run, from the plan of its places and its settings.
#include "core/schedule/run_mode.hpp"

#include <gtest/gtest.h>

namespace tessera::schedule {
namespace {

/// Places of the host and of devices, and three workers.
place_plan plan_of(int hosts, int devices) {
  place_plan plan;
  for (int k = 0; k < hosts + devices; ++k)
    plan.places.push_back({.space = static_cast<memory::space_number>(k), .is_host = k < hosts, .cores = {}});
  plan.workers.resize(3);
  return plan;
}

TEST(mode_of_run, has_the_workers_of_the_plan) { EXPECT_EQ(mode_of_run(plan_of(1, 0), {}).workers, 3u); }

TEST(mode_of_run, is_of_a_single_space_where_nobody_watches_the_uses) {
  EXPECT_TRUE(mode_of_run(plan_of(1, 0), {.spaces = 1}).single_space);
  EXPECT_FALSE(mode_of_run(plan_of(1, 0), {.spaces = 2}).single_space) << "the second one may be a disk";
  EXPECT_FALSE(mode_of_run(plan_of(1, 0), {.spaces = 1, .validated = true}).single_space);
}

TEST(mode_of_run, counts_places_and_knows_devices_among_them) {
  const run_mode alone = mode_of_run(plan_of(1, 0), {}), numa = mode_of_run(plan_of(2, 0), {}),
                 gpu = mode_of_run(plan_of(1, 1), {});
  EXPECT_TRUE(alone.single_place);
  EXPECT_FALSE(alone.has_devices);
  EXPECT_FALSE(numa.single_place);
  EXPECT_FALSE(numa.has_devices);
  EXPECT_FALSE(gpu.single_place);
  EXPECT_TRUE(gpu.has_devices);
}

TEST(mode_of_run, times_tasks_where_somebody_learns_from_it) {
  EXPECT_FALSE(mode_of_run(plan_of(1, 0), {}).times_tasks);
  EXPECT_TRUE(mode_of_run(plan_of(1, 0), {.learns_times = true}).times_tasks);
  EXPECT_TRUE(mode_of_run(plan_of(2, 0), {}).times_tasks) << "places are compared";
}

TEST(mode_of_run, passes_on_whether_uses_are_wanted_and_time_is_virtual) {
  const run_mode plain = mode_of_run(plan_of(1, 0), {});
  EXPECT_FALSE(plain.announces_uses);
  EXPECT_FALSE(plain.simulated);
  EXPECT_TRUE(mode_of_run(plan_of(1, 0), {.wants_uses = true}).announces_uses);
  EXPECT_TRUE(mode_of_run(plan_of(1, 0), {.simulated = true}).simulated);
}

}  // namespace
}  // namespace tessera::schedule
