// What serves threads of the program, each part by itself with a small owner: waits, recordings, deadlocks of views,
// what replays leave.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "core/base/error.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/replay_leftovers.hpp"
#include "core/schedule/view_deadlock.hpp"
#include "core/schedule/waits.hpp"
#include "tests/unit/schedule/small_owner.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

struct program_waits : ::testing::Test {
  static location::properties root() {
    location::properties root;
    root.name = "machine";
    return root;
  }
  program_waits() {
    places.push_back(std::make_unique<placement::place>());
    pool.prepare(std::vector<std::vector<std::uint32_t>>(1), false);
  }
  void submit(int count) { (void)submitted.add(owner.mine, static_cast<std::uint64_t>(count)); }
  void end(int count) { owner.mine.retired.store(owner.mine.retired.load() + static_cast<std::uint64_t>(count)); }

  small_owner owner;
  transfer::rig machine{{}};
  location::tree tree{root()};
  moving_cost cost;
  std::vector<std::unique_ptr<placement::place>> places;
  worker_queues queues{{.threads = &owner.threads, .places = &places, .tree = &tree, .cost = &cost}};
  placement::placer placer{{&tree, machine.is.get(), nullptr}, "eager"};
  worker_pool pool{
      {.queues = &queues, .placer = &placer, .places = &places, .coherence = machine.is.get(), .window_tasks = 4}};
  host_views views;
  submissions submitted{owner.threads, 4, 0};
  waits parts{{.owner = &owner, .threads = &owner.threads, .submitted = &submitted, .pool = &pool, .views = &views}};
};

TEST_F(program_waits, for_tasks_does_not_wait_for_views_that_threads_hold) {
  submit(3);
  host_access held;
  views.grant(held);
  owner.steps = {[&] { end(1); }, [&] { end(1); }};
  parts.wait(wait_request::quietly());
  EXPECT_EQ(owner.step, 2u) << "the third is the view";
}

TEST_F(program_waits, for_tasks_and_views_waits_for_both) {
  submit(2);
  host_access held;
  views.grant(held);
  owner.steps = {[&] { end(1); }, [&] { views.give_back(); }, [&] { end(1); }};
  parts.wait(wait_request::quietly(wait_request::end::tasks_and_views));
  EXPECT_EQ(owner.step, 3u);
}

TEST_F(program_waits, for_tasks_and_views_does_not_wait_for_those_of_its_own_thread) {
  submit(3);
  host_access own, other;
  views.grant(own);
  views.grant(other);
  owner.mine.held_views.store(1);
  owner.steps = {[&] { end(1); }, [&] { views.give_back(); }, [&] { end(1); }};
  parts.wait(wait_request::quietly(wait_request::end::tasks_and_views));
  EXPECT_EQ(owner.step, 3u) << "one of two tasks, then the other thread's view";
  owner.mine.held_views.store(0);
}

TEST_F(program_waits, of_a_forked_child_return_at_once) {
  submit(1);
  owner.forked = true;
  parts.wait(wait_request::quietly());
  parts.wait(wait_request::quietly(wait_request::end::tasks_and_views));
  EXPECT_EQ(owner.waited, 0);
}

TEST_F(program_waits, for_the_window_wait_until_half_of_it_is_left) {
  submit(3);
  parts.wait(wait_request::for_window());
  EXPECT_EQ(owner.waited, 0) << "it is not full";
  submit(1);
  owner.steps = {[&] { end(1); }, [&] { end(1); }};
  parts.wait(wait_request::for_window());
  EXPECT_EQ(owner.step, 2u);
}

TEST_F(program_waits, as_a_submission_do_nothing_where_a_submission_would_not_wait) {
  submit(4);
  parts.begin_no_waiting();
  parts.wait(wait_request::for_window());
  parts.wait(wait_request::submitting_until([] { return false; }));
  parts.end_no_waiting();
  {
    const thread_context::runtime_scope in_a_task(owner.mine);
    parts.wait(wait_request::for_window());
    parts.wait(wait_request::submitting_until([] { return false; }));
    EXPECT_FALSE(parts.in_program());
  }
  EXPECT_EQ(owner.waited, 0);
  EXPECT_TRUE(parts.in_program());
}

TEST_F(program_waits, as_a_submission_give_way_to_whoever_gets_a_view) {
  host_access granted;
  owner.steps = {[&] { views.grant(granted); }};
  parts.wait(wait_request::submitting_until([] { return false; }));
  EXPECT_EQ(owner.step, 1u);
}

TEST_F(program_waits, for_a_condition_look_at_nothing_else) {
  submit(2);
  bool holds = false;
  owner.steps = {[&] { end(2); }, [&] { holds = true; }};
  parts.wait(wait_request::for_condition([&] { return holds; }));
  EXPECT_EQ(owner.step, 2u);
}

TEST_F(program_waits, a_fence_is_refused_while_the_thread_holds_views_or_records) {
  owner.mine.held_views.store(2);
  try {
    parts.fence(std::source_location::current());
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_EQ(e.message(), "fence while this thread holds host views of 2 blocks");
  }
  owner.mine.held_views.store(0);
  const thread_context::runtime_scope in_a_task(owner.mine);
  EXPECT_THROW(parts.fence(std::source_location::current()), error);
  EXPECT_EQ(owner.waited, 0);
}

struct program_deadlock : program_waits {
  memory_deadlock memory{{.coherence = machine.is.get(), .threads = &owner.threads, .wake = [] {}}};
  view_deadlock deadlock{
      {.owner = &owner, .threads = &owner.threads, .pool = &pool, .queues = &queues, .memory = &memory}};
};

TEST_F(program_deadlock, a_thread_without_views_is_never_told_that_it_waits_in_vain) {
  owner.steps = {[&] { EXPECT_FALSE(owner.mine.asks.load()); }};
  EXPECT_TRUE(deadlock.wait(
      owner.mine, [&] { return owner.step == 1; }, 0));
}

TEST_F(program_deadlock, a_thread_with_views_stops_when_it_is_told) {
  owner.mine.held_views.store(1);
  owner.steps = {[&] {
    EXPECT_TRUE(owner.mine.asks.load());
    owner.mine.wait_is_hopeless.store(true);
  }};
  EXPECT_FALSE(deadlock.wait(
      owner.mine, [] { return false; }, 0));
  EXPECT_FALSE(owner.mine.asks.load());
}

TEST_F(program_deadlock, what_came_true_all_the_same_counts) {
  owner.mine.held_views.store(1);
  bool came = false;
  owner.steps = {[&] {
    owner.mine.wait_is_hopeless.store(true);
    came = true;
  }};
  EXPECT_TRUE(deadlock.wait(
      owner.mine, [&] { return came; }, 0));
}

TEST_F(program_deadlock, nobody_is_told_while_nobody_asks) { EXPECT_FALSE(deadlock.resolve()); }

TEST(program_recordings, begin_once_outside_of_tasks) {
  small_owner owner;
  recordings made(owner);
  block::table blocks;
  const operation::definition reduce;
  task::graph_recorder taker(blocks, reduce, reduce);
  EXPECT_EQ(made.current(), nullptr);
  {
    const thread_context::runtime_scope in_a_task(owner.mine);
    EXPECT_THROW(made.begin(taker, std::source_location::current()), error);
  }
  made.begin(taker, std::source_location::current());
  EXPECT_EQ(made.current(), &taker);
  EXPECT_THROW(made.begin(taker, std::source_location::current()), error);
  EXPECT_EQ(made.current(), &taker);
  made.end();
  EXPECT_EQ(made.current(), nullptr);
}

TEST(replay_leftovers, go_when_they_are_through_and_without_the_lock) {
  replay_leftovers left;
  bool first_through = false, second_through = false;
  const auto leaving = [&left](int* gone) {
    return std::shared_ptr<void>(new int, [&left, gone](void* p) {
      left.keep_until([] { return true; }, nullptr);  // what ends may leave something itself
      ++*gone;
      delete static_cast<int*>(p);
    });
  };
  int first = 0, second = 0;
  left.keep_until([&] { return first_through; }, leaving(&first));
  left.keep_until([&] { return second_through; }, leaving(&second));
  left.let_go();
  EXPECT_EQ(first + second, 0);
  second_through = true;
  left.let_go();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  first_through = true;
  left.let_go();
  EXPECT_EQ(first, 1);
}

}  // namespace
}  // namespace tessera::schedule
