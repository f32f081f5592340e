// Tasks that are set aside, and what brings each of them back.
#include "core/schedule/parking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A device with two streams that move when they are told to, and what parking says.
struct parked_tasks {
  parked_tasks() {
    for (int k = 0; k < 2; ++k) streams.push_back(&machine.streams.create(machine.devices[1]->device(), 0));
  }
  ~parked_tasks() { machine.end(); }
  block::ticket point_on(std::size_t stream) {
    const std::lock_guard guard(streams[stream]->enqueue_lock());
    return streams[stream]->signal();
  }
  testing::fake_stream& fake(std::size_t stream) { return testing::fake_of(streams[stream]->handle()); }
  /// What was enqueued on the stream runs, and that is seen.
  void run(std::size_t stream) {
    while (fake(stream).advance()) {
    }
    while (streams[stream]->poll()) {
    }
  }
  task::record& task() {
    tasks.push_back(std::make_unique<task::record>());
    tasks.back()->sequence = tasks.size();
    return *tasks.back();
  }
  transfer::acquisition lacks_room() {
    transfer::acquisition lacking;
    lacking.lacking = 1;
    lacking.memory_events = machine.spaces[1]->waiters().events();
    return lacking;
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  transfer::rig machine{{"alpha"}};
  std::vector<transfer::stream*> streams;
  std::vector<std::unique_ptr<task::record>> tasks;
  std::vector<std::string> calls;
  parking aside{{.coherence = machine.is.get(),
                 .resume = [this](task::record& t) { calls.push_back("resume " + std::to_string(t.sequence)); },
                 .copies_came = [this] { calls.push_back("copies came"); }}};
};

TEST(parking, a_task_goes_on_when_the_last_of_its_points_is_reached) {
  parked_tasks p;
  const std::vector<block::ticket> points{p.point_on(0), p.point_on(1)};
  p.aside.wait_for_points(p.task(), points, nullptr);
  EXPECT_EQ(p.aside.waiting_for_points(), 1u);
  p.run(1);
  EXPECT_THAT(p.take(), IsEmpty());
  EXPECT_EQ(p.aside.waiting_for_points(), 1u);
  p.run(0);
  EXPECT_THAT(p.take(), ElementsAre("resume 1", "copies came"));
  EXPECT_EQ(p.aside.waiting_for_points(), 0u);
}

TEST(parking, a_task_whose_points_are_reached_already_goes_on_at_once) {
  parked_tasks p;
  const std::vector<block::ticket> points{p.point_on(0), p.point_on(0)};
  p.run(0);
  p.aside.wait_for_points(p.task(), points, nullptr);
  EXPECT_THAT(p.take(), ElementsAre("resume 1", "copies came"));
  EXPECT_EQ(p.aside.waiting_for_points(), 0u);
}

TEST(parking, a_point_that_failed_is_no_less_over) {
  parked_tasks p;
  p.fake(0).push({testing::fake_step::kind::fail, {}, static_cast<std::uint64_t>(TSR_INTERNAL), nullptr});
  const std::vector<block::ticket> points{p.point_on(0)};
  p.aside.wait_for_points(p.task(), points, nullptr);
  p.run(0);
  EXPECT_THAT(p.take(), ElementsAre("resume 1", "copies came")) << "the thread that runs it looks at the failure";
}

TEST(parking, tasks_that_wait_for_one_point_all_go_on) {
  parked_tasks p;
  const std::vector<block::ticket> points{p.point_on(0)};
  for (int k = 0; k < 3; ++k) p.aside.wait_for_points(p.task(), points, nullptr);
  EXPECT_EQ(p.aside.waiting_for_points(), 3u);
  p.run(0);
  EXPECT_EQ(p.take().size(), 6u);
  EXPECT_EQ(p.aside.waiting_for_points(), 0u);
}

TEST(parking, room_that_comes_brings_back_all_that_lacked_it_the_oldest_first) {
  parked_tasks p;
  task::record &old = p.task(), &young = p.task();
  p.aside.wait_for_memory(young, nullptr, p.lacks_room(), nullptr);
  p.aside.wait_for_memory(old, nullptr, p.lacks_room(), nullptr);
  EXPECT_THAT(p.take(), IsEmpty());
  EXPECT_EQ(p.aside.waiting_for_points(), 0u) << "only those that wait for points are counted";
  p.machine.spaces[1]->waiters().notify();
  EXPECT_THAT(p.take(), ElementsAre("resume 1", "resume 2"));
}

TEST(parking, room_that_came_before_the_task_was_set_aside_is_not_missed) {
  parked_tasks p;
  const transfer::acquisition lacking = p.lacks_room();
  p.machine.spaces[1]->waiters().notify();
  p.aside.wait_for_memory(p.task(), nullptr, lacking, nullptr);
  EXPECT_THAT(p.take(), ElementsAre("resume 1"));
  EXPECT_FALSE(p.machine.spaces[1]->waiters().any());
}

TEST(parking, a_task_that_waits_in_vain_is_given_to_who_ends_it) {
  parked_tasks p;
  task::record& t = p.task();
  p.aside.wait_for_memory(t, nullptr, p.lacks_room(), nullptr);
  memory::memory_waiter* const oldest = p.machine.spaces[1]->waiters().take_oldest();
  ASSERT_NE(oldest, nullptr);
  EXPECT_EQ(oldest->age, t.sequence);
  EXPECT_EQ(parking::give_up(*oldest), &t);
  p.machine.spaces[1]->waiters().notify();
  EXPECT_THAT(p.take(), IsEmpty()) << "it is not resumed too";
}

TEST(parking, what_waits_and_is_no_task_is_refused_instead) {
  struct leaving : memory::memory_waiter {
    int refused = 0;
  } device;
  device.wake = [](memory::memory_waiter*) { FAIL() << "it waits in vain"; };
  device.refuse = [](memory::memory_waiter* self) { ++static_cast<leaving*>(self)->refused; };
  EXPECT_EQ(parking::give_up(device), nullptr);
  EXPECT_EQ(device.refused, 1);
}

}  // namespace
}  // namespace tessera::schedule
