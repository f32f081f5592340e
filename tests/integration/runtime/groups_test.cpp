// Options of a submission, and tasks that are waited for together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(groups, a_fence_waits_for_the_tasks_of_its_group_alone) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<double>("A", {4}, {1});
  std::promise<void> begun, open;
  rt.submit(
      "other",
      [&begun, until = open.get_future().share()](view<double> x) { begun.set_value(), until.wait(), x[0] = 1; },
      write(a(3)));
  begun.get_future().wait();  // by the other worker
  task_group group(rt);
  std::atomic<int> ran{0};
  for (int k = 0; k < 3; ++k)
    rt.submit(
        "member", {.group = &group}, [&ran, k](view<double> x) { x[0] = k, ++ran; }, write(a(k)));
  group.fence();
  EXPECT_EQ(ran.load(), 3);
  group.fence();  // there is nothing to wait for
  rt.submit(
      "member", {.priority = 2, .at = rt.at("numa0"), .group = &group}, [&ran](view<double> x) { x[0] += ran++; },
      update(a(0)));
  rt.fence(group);
  EXPECT_EQ(ran.load(), 4);
  rt.submit(
      "list", {.group = &group}, [&ran](task_blocks b) { ran += static_cast<int>(b.get<double>(0)[0]); },
      std::vector<block_access>{update(a(0))});
  rt.fence({.group = &group});
  EXPECT_EQ(ran.load(), 7);
  open.set_value();
  rt.fence();
}

TEST(groups, a_failure_is_thrown_by_the_fence_of_the_group_and_by_no_other) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<double>("A", {3}, {1});
  task_group bad(rt), good(rt);
  rt.submit(
      "breaks", {.group = &bad}, [](view<double>) { throw std::runtime_error("no luck"); }, write(a(0)));
  rt.submit(
      "follows", {.group = &bad}, [](view<double>) {}, update(a(0)));
  rt.submit(
      "works", {.group = &good}, [](view<double> x) { x[0] = 1; }, write(a(1)));
  EXPECT_NO_THROW(good.fence());
  EXPECT_THAT(error_of([&] { bad.fence(); }).what(), HasSubstr("breaks failed: no luck"));
  EXPECT_NO_THROW(bad.fence()) << "once";
  EXPECT_NO_THROW(rt.fence()) << "this thread has been told";
  // A member that is given up for the failure of another task fails its group.
  rt.submit(
      "outside", [](view<double>) { throw std::runtime_error("bad day"); }, write(a(2)));
  rt.submit(
      "inside", {.group = &good}, [](view<double>) {}, update(a(2)));
  EXPECT_THAT(error_of([&] { good.fence(); }).what(), HasSubstr("bad day"));
}

TEST(groups, failures_of_a_group_that_is_gone_are_left_to_the_next_fence) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<double>("A", {1}, {1});
  int ran = 0;
  {
    task_group group(rt);
    rt.submit(
        "breaks", {.group = &group},
        [&ran](view<double>) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          ran = 1;
          throw std::runtime_error("late");
        },
        write(a(0)));
  }
  EXPECT_EQ(ran, 1) << "its end waits";
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("late"));
}

TEST(groups, where_a_fence_may_not_be) {
  runtime rt(testing::host_only(2)), other(testing::host_only(1));
  auto a = rt.make_array<double>("A", {2}, {1});
  task_group group(rt), foreign(other);
  EXPECT_THAT(error_of([&] {
                rt.submit(
                    "t", {.group = &foreign}, [](view<double>) {}, write(a(0)));
              }).what(),
              AllOf(HasSubstr("task 't' is to belong to a group of another runtime"), HasSubstr("groups_test.cpp")));
  EXPECT_THAT(error_of([&] { rt.fence(foreign); }).what(), HasSubstr("a group of another runtime"));
  EXPECT_THAT(error_of([&] { rt.fence({.group = &group, .reports = false}); }).what(), HasSubstr("does not report"));
  {
    const auto held = a(0).write();
    EXPECT_THAT(error_of([&] { group.fence(); }).what(),
                HasSubstr("fence while this thread holds host views of 1 block"));
  }
  rt.submit(
      "waits", [&](view<double>) { group.fence(); }, write(a(1)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("fence inside a task"));
  EXPECT_THAT(error_of([&] { (void)rt.record([&] { group.fence(); }); }).what(), HasSubstr("fence inside a recording"));
  EXPECT_THAT(error_of([&] {
                (void)rt.record([&] {
                  rt.submit(
                      "r", {.group = &group}, [](view<double>) {}, write(a(0)));
                });
              }).what(),
              HasSubstr("task 'r' of a recording is to belong to a group"));
}

TEST(groups, the_end_of_a_group_does_not_wait_for_ever) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<double>("A", {2}, {1});
  fill(rt, a(0), 0);
  std::optional<task_group> group(std::in_place, rt);
  {
    const auto held = a(0).update();
    rt.submit(
        "behind", {.group = &*group}, [](view<double> x) { x[0] = 5; }, update(a(0)));
    group.reset();  // the task waits for the view
  }
  EXPECT_EQ(a(0).read()[0], 5);
  group.emplace(rt);
  rt.submit(
      "ends", {.group = &*group},
      [&](view<double> x) {
        group.reset();  // it is a member itself
        x[0] = 6;
      },
      update(a(0)));
  rt.fence();
  EXPECT_EQ(a(0).read()[0], 6);
}

TEST(groups, outlive_their_runtime) {
  std::optional<runtime> rt(std::in_place, testing::host_only(2));
  task_group group(*rt);
  {
    auto a = rt->make_array<double>("A", {1}, {1});
    rt->submit(
        "last", {.group = &group}, [](view<double> x) { x[0] = 1; }, write(a(0)));
  }
  rt.reset();
  EXPECT_THAT(error_of([&] { group.fence(); }).what(), HasSubstr("whose runtime has ended"));
}

TEST(groups, many_threads_with_a_group_each) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<std::int64_t>("A", {4}, {1});
  for (int k = 0; k < 4; ++k) fill(rt, a(k), 0);
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      task_group mine(rt);
      std::int64_t counted = 0;
      for (int round = 1; round <= 50; ++round) {
        for (int step = 0; step < 10; ++step)
          rt.submit(
              "count", {.group = &mine}, [&counted](view<std::int64_t> x) { ++x[0], ++counted; }, update(a(k)));
        mine.fence();
        EXPECT_EQ(counted, 10 * round);
      }
    });
  threads.clear();
  for (int k = 0; k < 4; ++k) EXPECT_EQ(a(k).read()[0], 500);
}

TEST(groups, on_a_device) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("A", {64}, {8});
  task_group group(rt);
  for (std::size_t k = 0; k < a.size(); ++k) {
    fill(rt, a.block(k), 1, {.at = rt.at("sim0"), .group = &group});
    scal(rt, 3, a.block(k), {.at = rt.at("sim0"), .group = &group});
  }
  group.fence();
  EXPECT_EQ(a(7).read()[0], 3);
}

TEST(groups, a_fence_orders_submissions_of_other_threads_for_validation) {
  machine watched = testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2);
  runtime rt(std::move(watched));
  auto a = rt.make_array<double>("A", {1}, {1});
  task_group group(rt);
  std::promise<void> submitted;
  std::jthread other([&] {
    rt.submit(
        "theirs", {.group = &group}, [](view<double> x) { x[0] = 1; }, write(a(0)));
    submitted.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  submitted.get_future().wait();  // validation does not know of this
  group.fence();
  rt.submit(
      "mine", [](view<double> x) { x[0] += 1; }, update(a(0)));
  EXPECT_NO_THROW(rt.fence());
}

}  // namespace
}  // namespace tessera
