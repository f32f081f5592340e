// Updates in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

machine in_order(unsigned workers) {
  return testing::machine_of("plugins = [\"host\"]\ndeterministic = true\n", workers);
}

TEST(commute, the_first_that_is_ready_goes_first) {
  runtime rt(testing::host_only(2));
  auto slow = rt.make_array<double>("slow", {1}, {1}), list = rt.make_array<double>("list", {4}, {4});
  fill(rt, list(0), 0);
  std::promise<void> begun, open;
  rt.submit(
      "slow",
      [&begun, until = open.get_future().share()](view<double> x) { begun.set_value(), until.wait(), x[0] = 1; },
      write(slow(0)));
  begun.get_future().wait();  // by the other worker
  const auto append = [](double what) {
    return [what](view<double> x) { x[static_cast<std::int64_t>(++x[0])] = what; };
  };
  rt.submit(
      "late", [append = append(1)](view<const double>, view<double> x) { append(x); }, read(slow(0)), commute(list(0)));
  task_group quick(rt);
  rt.submit("quick", {.group = &quick}, append(2), commute(list(0)));
  quick.fence();  // with an update it would wait for the one before it
  open.set_value();
  rt.submit(
      "after", [](view<double> x) { x[3] = 100 * x[1] + x[2]; }, update(list(0)));
  EXPECT_EQ(list.read_host(list(0))[3], 201);
}

TEST(commute, in_the_order_of_submission_where_the_run_is_deterministic_or_recorded) {
  for (const bool recorded : {false, true}) {
    runtime rt(recorded ? testing::host_only(2) : in_order(2));
    auto x = rt.make_array<std::int64_t>("x", {1}, {1});
    std::int64_t expected = 1;
    const auto all = [&] {
      for (std::int64_t k = 0; k < 200; ++k)
        rt.submit(
            "step", [k](view<std::int64_t> v) { v[0] = (v[0] * 31 + k) % 1000003; }, commute(x(0)));
    };
    fill(rt, x(0), 1);
    if (recorded) {
      recording r = rt.record(all);
      rt.replay(r);
    } else {
      all();
    }
    for (std::int64_t k = 0; k < 200; ++k) expected = (expected * 31 + k) % 1000003;
    EXPECT_EQ(x.read_host(x(0))[0], expected);
  }
}

/// Counts that several tasks change at once would be lost, or seen by `inside`.
void many_on_many_blocks(runtime& rt, unsigned seed) {
  constexpr int blocks = 5, tasks = 1500;
  auto x = rt.make_array<std::int64_t>("x", {blocks}, {1});
  std::array<std::atomic<int>, blocks> inside{};
  std::array<std::int64_t, blocks> expected{};
  for (int k = 0; k < blocks; ++k) fill(rt, x(k), 0);
  std::mt19937 random(seed);
  for (int k = 0; k < tasks; ++k) {
    std::vector<block_access> uses;
    std::vector<int> which;
    for (int b = 0; b < blocks; ++b)
      if (random() % 3 == 0) uses.push_back(commute(x(b))), which.push_back(b), ++expected[std::size_t(b)];
    if (uses.empty()) continue;
    rt.submit(
        "count", {.priority = static_cast<std::int16_t>(random() % 3)},
        [&inside, which](task_blocks b) {
          for (std::size_t n = 0; n < which.size(); ++n) {
            EXPECT_EQ(inside[std::size_t(which[n])].fetch_add(1), 0) << "one at a time";
            ++b.get<std::int64_t>(n)[0];
          }
          for (const int n : which) inside[std::size_t(n)].fetch_sub(1);
        },
        uses);
    if (random() % 100 == 0) {
      const int b = static_cast<int>(random() % blocks);
      EXPECT_EQ(x.read_host(x(b))[0], expected[std::size_t(b)]) << "a view is behind all of them";
    }
  }
  for (int b = 0; b < blocks; ++b) EXPECT_EQ(x.read_host(x(b))[0], expected[std::size_t(b)]);
}

TEST(commute, several_blocks_each_with_any_number_of_workers) {
  for (const unsigned workers : {1u, 2u, 4u}) {
    runtime rt(testing::host_only(workers));
    many_on_many_blocks(rt, workers);
  }
}

TEST(commute, under_validation) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2));
  many_on_many_blocks(rt, 9);
  EXPECT_NO_THROW(rt.fence());
}

TEST(commute, on_devices_and_on_the_host_by_turns) {
  runtime rt(testing::with_sims(2, "64 KiB"));
  auto x = rt.make_array<double>("x", {64}, {64}), one = rt.make_array<double>("one", {64}, {64});
  fill(rt, x(0), 0);
  fill(rt, one(0), 1);
  const operation::definition& axpy = *rt.builtin().axpy;
  for (int k = 0; k < 60; ++k) {
    const operation::axpy_arguments by{1.0};
    if (k % 3 == 2)
      rt.submit(
          "host",
          [](view<double> v) {
            for (double& e : v) e += 1;
          },
          commute(x(0)));
    else
      rt.submit_operation(axpy, by, {read(one(0)), commute(x(0))}, {.at = rt.at(k % 3 == 0 ? "sim0" : "sim1")});
  }
  EXPECT_EQ(x.read_host(x(0))[63], 60);
}

TEST(commute, one_that_fails_and_those_behind_it) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {2}, {1});
  fill(rt, x(0), 0), fill(rt, x(1), 0);
  rt.submit(
      "breaks", [](view<double>, view<double>) { throw std::runtime_error("no luck"); }, commute(x(0)), commute(x(1)));
  for (int k = 0; k < 5; ++k)
    rt.submit(
        "more", [](view<double> v) { ++v[0]; }, commute(x(k % 2)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("no luck"));
  fill(rt, x(0), 4);
  rt.submit(
      "again", [](view<double> v) { ++v[0]; }, commute(x(0)));
  EXPECT_EQ(x.read_host(x(0))[0], 5) << "written anew";
}

TEST(commute, a_run_that_is_cancelled_ends) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {1}, {1});
  fill(rt, x(0), 0);
  for (int k = 0; k < 300; ++k)
    rt.submit(
        "step", [](view<double> v) { ++v[0]; }, commute(x(0)));
  rt.cancel("enough");
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("enough"));
}

TEST(commute, a_block_stands_once_in_a_task) {
  runtime rt(testing::host_only(1));
  auto x = rt.make_array<double>("x", {1}, {1});
  EXPECT_THAT(error_of([&] {
                rt.submit(
                    "t", [](view<double>, view<const double>) {}, commute(x(0)), read(x(0)));
              }).what(),
              HasSubstr("names x(0) twice: commute and read"));
}

TEST(commute, threads_need_no_order_among_tasks_that_commute_and_one_before_others) {
  for (const bool commutes : {true, false}) {
    runtime rt(testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2));
    auto x = rt.make_array<double>("x", {1}, {1});
    fill(rt, x(0), 0);
    rt.fence();
    const auto add = [](view<double> v) { ++v[0]; };
    std::promise<void> first, second;  // validation does not know of them
    std::jthread one([&] {
      rt.submit("one", add, commute(x(0)));
      first.set_value();
      second.get_future().wait();
    });
    std::jthread other([&] {
      first.get_future().wait();
      if (commutes)
        rt.submit("other", add, commute(x(0)));
      else
        rt.submit("other", add, update(x(0)));
      second.set_value();
    });
    one.join(), other.join();
    if (commutes) {
      EXPECT_NO_THROW(rt.fence());
    } else {
      EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("nothing orders their submissions"));
    }
  }
}

}  // namespace
}  // namespace tessera
