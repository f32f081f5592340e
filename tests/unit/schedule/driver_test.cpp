// A device's driver, played by the test: no thread, no scheduler, and a device that moves when it is told to.
#include "core/schedule/device/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/schedule/driven.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(driver, publishes_before_the_work_is_done_and_retires_after) {
  driven d;
  EXPECT_EQ(d.driver->start_next(), 0u) << "nothing is queued";
  EXPECT_FALSE(d.driver->active());
  block::record& b = d.block();
  d.push({&b});
  EXPECT_TRUE(d.driver->active());
  EXPECT_EQ(d.driver->start_next(), 1u);
  EXPECT_THAT(d.owner.take(), ElementsAre("enqueued 1")) << "successors start behind it on the device";
  EXPECT_TRUE(d.driver->anything_busy());
  EXPECT_EQ(d.rig.pins(b, 1), 1u);
  d.settle();
  EXPECT_THAT(d.owner.take(), ElementsAre("retired 1"));
  EXPECT_EQ(d.rig.pins(b, 1), 0u);
  EXPECT_FALSE(d.driver->active());
}

TEST(driver, the_time_of_work_counts_whoever_sees_its_end) {
  driven d;
  d.push({&d.block()});
  d.driver->start_next();
  d.owner.here = &d.owner.watchdogs;
  d.settle();
  const operation_counters::counter* const counted = d.owner.mine.counters.find(d.adds.number);
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(counted->tasks, 1u);
  EXPECT_GT(counted->nanoseconds, 0u);
  EXPECT_EQ(d.owner.watchdogs.counters.find(d.adds.number), nullptr) << "times belong to the device";
}

TEST(driver, enqueues_four_tasks_per_stream_and_no_more) {
  driven d(64);
  const std::size_t depth = 4 * d.driver->compute_streams();
  for (std::size_t k = 0; k < depth + 2; ++k) d.push({&d.block()});
  std::size_t started = 0;
  while (d.driver->start_next() != 0) ++started;
  EXPECT_EQ(started, depth);
  d.settle();
  while (d.driver->start_next() != 0) ++started;
  EXPECT_EQ(started, depth + 2);
  d.settle();
}

TEST(driver, a_task_without_memory_waits_and_younger_ones_are_held_back_when_the_device_is_busy) {
  driven d;
  block::record &a = d.block(), &b = d.block(), &c = d.block(), &e = d.block();
  d.push({&a, &b, &c});
  task::record& second = d.push({&d.block(), &d.block(), &e});  // does not fit beside the first
  ASSERT_EQ(d.driver->start_next(), 1u);
  d.driver->start_next();
  EXPECT_THAT(d.owner.take(), ElementsAre("enqueued 1", "waits for memory 2"));
  EXPECT_EQ(d.rig.pins(e, 1), 0u) << "who waits for memory holds none";
  d.driver->begin_wait(second);  // what the scheduler does
  for (std::uint32_t k = 0; k < 4 * d.driver->compute_streams(); ++k) d.driver->begin_wait(second);
  d.push({&d.block()});
  EXPECT_EQ(d.driver->start_next(), 0u) << "the third is younger than all that wait";
  for (std::uint32_t k = 0; k <= 4 * d.driver->compute_streams(); ++k) d.driver->end_wait(second);
  d.settle();
  EXPECT_THAT(d.owner.take(), ElementsAre("retired 1"));
  // What the first has made is written back, and the scheduler queues the second one again.
  for (int tries = 0; tries < 5 && (d.owner.calls.empty() || d.owner.calls.back() != "retired 2"); ++tries) {
    if (d.place.ready_queue().size() == 1) d.place.ready_queue().push(second);
    EXPECT_EQ(d.driver->start_next(), 1u);
    d.settle();
  }
  EXPECT_THAT(d.owner.take(), ElementsAre("waits for memory 2", "enqueued 2", "retired 2"));
}

TEST(driver, a_task_that_throws_fails_with_its_words_and_poisons_what_it_makes) {
  driven d;
  block::record& b = d.block();
  d.push({&b}).argument_size = 8;
  d.driver->start_next();
  d.settle();
  EXPECT_THAT(d.owner.take(), ElementsAre("enqueued 1", "retired 1"));
  ASSERT_NE(b.poison, nullptr);
  EXPECT_THAT((*b.poison)->text, HasSubstr("adds on alpha1 failed: it does not like its arguments"));
  const failures::report told = d.failed.take();
  ASSERT_NE(told.first, nullptr);
  EXPECT_THAT(told.first->where, HasSubstr("task 'adds'"));
}

TEST(driver, tasks_of_a_cancelled_run_are_dropped) {
  driven d;
  d.push({&d.block()});
  d.failed.cancel("enough", error_kind::interrupted);
  d.driver->start_next();
  EXPECT_THAT(d.owner.take(), ElementsAre("dropped 1"));
}

TEST(driver, work_that_fails_on_the_device_fails_its_task) {
  driven d;
  block::record& b = d.block();
  std::vector<block::access> write{transfer::rig::use(b, intent::write)};
  d.push({&b});
  d.driver->start_next();
  for (testing::fake_stream* s : d.rig.world.streams)
    if (!s->steps.empty())
      s->steps.push_front({testing::fake_step::kind::fail, {}, static_cast<std::uint64_t>(TSR_INTERNAL), nullptr});
  d.settle();
  ASSERT_NE(b.poison, nullptr);
  EXPECT_THAT((*b.poison)->text, HasSubstr("adds on alpha1 failed: INTERNAL"));
  EXPECT_EQ((*b.poison)->kind, error_kind::task);
}

TEST(driver, what_follows_a_failure_has_its_reason_whichever_end_is_seen_first) {
  driven d;
  block::record& b = d.block();
  d.push({&b});
  d.driver->start_next();
  for (testing::fake_stream* s : d.rig.world.streams)
    if (!s->steps.empty())
      s->steps.push_front({testing::fake_step::kind::fail, {}, static_cast<std::uint64_t>(TSR_INTERNAL), nullptr});
  for (int follower = 0; follower < 2; ++follower) {
    d.push({&b}, intent::update);
    d.driver->start_next();
  }
  EXPECT_THAT(d.owner.take(), ElementsAre("enqueued 1", "enqueued 2", "enqueued 3"));
  for (int k = 0; k < 200; ++k)
    for (auto* s : d.rig.world.streams) s->advance();
  ASSERT_EQ(d.driver->streams().size(), 2u);
  for (int k = 0; k < 4; ++k) d.driver->streams()[1]->poll();
  EXPECT_THAT(d.owner.take(), ElementsAre("retired 2")) << "it knows why before the end of the first one is seen";
  d.settle();
  EXPECT_THAT(d.owner.take(), ElementsAre("retired 1", "retired 3"));
  EXPECT_FALSE(d.driver->active());
  const failures::report told = d.failed.take();
  ASSERT_NE(told.first, nullptr);
  EXPECT_THAT(told.first->text, HasSubstr("adds on alpha1 failed: INTERNAL"));
  ASSERT_NE(b.poison, nullptr);
  EXPECT_EQ(*b.poison, told.first) << "one reason for all that follows";
}

TEST(driver, what_is_written_again_comes_to_no_harm_by_an_earlier_failure) {
  driven d;
  block::record& b = d.block();
  d.push({&b});
  d.driver->start_next();
  for (testing::fake_stream* s : d.rig.world.streams)
    if (!s->steps.empty())
      s->steps.push_front({testing::fake_step::kind::fail, {}, static_cast<std::uint64_t>(TSR_INTERNAL), nullptr});
  d.push({&b});
  d.driver->start_next();
  d.settle();
  EXPECT_THAT(d.owner.take(), ElementsAre("enqueued 1", "enqueued 2", "retired 1", "retired 2"));
  EXPECT_EQ(b.poison, nullptr);
  EXPECT_NE(d.failed.take().first, nullptr) << "the failure is told";
}

}  // namespace
}  // namespace tessera::schedule
