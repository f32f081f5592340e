// The ends of runtimes, of threads, of views and of arrays, in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "core/runtime/inside.hpp"
#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

class life : public ::testing::TestWithParam<unsigned> {};  // workers
INSTANTIATE_TEST_SUITE_P(workers, life, ::testing::Values(1u, 3u));

TEST_P(life, a_view_may_outlive_its_array_and_the_runtime) {
  std::optional<host_view<double>> seen;
  {
    runtime rt(testing::host_only(GetParam()));
    auto a = rt.make_array<double>("a", {2}, {1});
    seen.emplace(a(0).write());
    (*seen)[0] = 1;
  }  // the array ends first, behind the view; then the runtime, which gives the view back
  seen.reset();
}

TEST_P(life, tasks_behind_a_view_of_the_thread_that_ends_the_runtime_run) {
  std::optional<host_view<double>> seen;
  std::atomic<double> sum{0};
  {
    runtime rt(testing::host_only(GetParam()));
    auto a = rt.make_array<double>("a", {1}, {1});
    seen.emplace(a(0).write());
    (*seen)[0] = 4;
    rt.submit(
        "behind", [&](view<const double> x) { sum = x[0]; }, read(a(0)));
  }
  EXPECT_EQ(sum, 4);
}

TEST_P(life, arrays_and_recordings_may_outlive_the_runtime) {
  std::optional<array<double>> a;
  std::optional<recording> r;
  {
    runtime rt(testing::host_only(GetParam()));
    a.emplace(rt.make_array<double>("a", {2}, {1}));
    fill(rt, (*a)(0), 1.0);
    r.emplace(rt.record([&] {
      rt.submit(
          "add", [](view<double> x) { x[0] += 1; }, update((*a)(0)));
    }));
    rt.replay(*r);
  }
  r.reset();
  a.reset();
}

TEST_P(life, the_runtime_waits_for_views_of_other_threads) {
  for (int round = 0; round < 20; ++round) {
    machine m = testing::host_only(GetParam());
    std::string told;
    m.log = [&](int level, const std::string& line) {
      if (level == 2) told += line;
    };
    auto rt = std::make_unique<runtime>(std::move(m));
    auto a = rt->make_array<double>("a", {1}, {1});
    fill(*rt, a(0), 2.0);
    std::atomic<bool> held{false}, ending{false};
    double seen = 0;
    std::thread other([&] {
      const auto mine = a(0).read();
      held = true;
      while (!ending) std::this_thread::yield();
      for (int k = 0; k < 100 * round; ++k) std::this_thread::yield();
      seen = mine[0];
    });
    while (!held) std::this_thread::yield();
    ending = true;
    rt.reset();
    other.join();
    EXPECT_EQ(seen, 2);
    if (!told.empty()) {  // the other thread may have been faster
      EXPECT_THAT(told, ::testing::HasSubstr("waits until they are given back"));
    }
  }
}

TEST_P(life, a_failure_that_no_fence_has_reported_is_in_the_log) {
  enum class ends {
    untold,
    told,
    unwound
  };
  for (const ends how : {ends::untold, ends::told, ends::unwound}) {
    machine m = testing::host_only(GetParam());
    std::string told;
    m.log = [&](int level, const std::string& line) {
      if (level == 2) told += line;
    };
    try {
      runtime rt(std::move(m));
      auto a = rt.make_array<double>("a", {1}, {1});
      rt.submit(
          "bad", [](view<double>) { throw std::runtime_error("three"); }, write(a(0)));
      if (how == ends::told) {
        EXPECT_THROW(rt.fence(), error);
      } else if (how == ends::unwound) {
        throw std::runtime_error("elsewhere");
      }
    } catch (const std::runtime_error&) {
    }
    if (how == ends::untold) {
      EXPECT_THAT(told, ::testing::HasSubstr("no fence has reported: bad failed: three (task 'bad' submitted at "));
    } else {
      EXPECT_EQ(told, "");
    }
  }
}

TEST_P(life, threads_end_while_the_runtime_ends) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> submitted{0};
    {
      runtime rt(testing::host_only(GetParam()));
      auto a = rt.make_array<double>("a", {4}, {1});
      for (int k = 0; k < 4; ++k)
        threads.emplace_back([&, k] {
          fill(rt, a(k), 1.0);
          ++submitted;
        });
      while (submitted < 4) std::this_thread::yield();
    }  // while they end
    for (std::thread& t : threads) t.join();
  }
}

TEST_P(life, arrays_of_other_threads_end_while_the_runtime_ends) {
  for (int round = 0; round < 50; ++round) {
    auto rt = std::make_unique<runtime>(testing::host_only(GetParam()));
    std::vector<array<double>> arrays;
    for (int k = 0; k < 20; ++k) {
      arrays.push_back(rt->make_array<double>("a", {16}, {4}));
      for (int b = 0; b < 4; ++b) fill(*rt, arrays.back()(b), 1.0);
    }
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go) {
      }
      arrays.clear();
    });
    go = true;
    rt.reset();
    other.join();
  }
}

TEST_P(life, one_thread_uses_two_runtimes_in_turn) {
  runtime first(testing::host_only(GetParam())), second(testing::host_only(GetParam()));
  auto a = first.make_array<double>("a", {1}, {1});
  auto b = second.make_array<double>("b", {1}, {1});
  for (int k = 0; k < 300; ++k) {
    fill(first, a(0), double(k));
    fill(second, b(0), 2.0 * k);
    EXPECT_EQ(a(0).read()[0] * 2, b(0).read()[0]);
  }
}

TEST(life, of_many_threads) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<std::int64_t>("a", {1}, {1});
  fill(rt, a(0), std::int64_t{0});
  std::vector<std::thread> threads;
  std::atomic<int> there{0};
  constexpr int count = 400;  // all at the same time: more than a byte can number
  threads.reserve(count);
  for (int k = 0; k < count; ++k)
    threads.emplace_back([&] {
      rt.submit(
          "add", [](view<std::int64_t> x) { ++x[0]; }, update(a(0)));
      ++there;
      while (there < count) std::this_thread::yield();
    });
  for (std::thread& t : threads) t.join();
  rt.fence();
  EXPECT_EQ(a(0).read()[0], count);
}

// A view that nobody could give back: its thread is gone.
TEST_P(life, views_of_a_thread_that_ends_are_given_back_and_told) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 2.0);
  std::unique_ptr<host_view<double>> left;
  std::thread([&] {
    left = std::make_unique<host_view<double>>(a(0).update());
    (*left)[0] = 3;
  }).join();
  const error e = test_support::error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), ::testing::HasSubstr("a thread ended while it held views of a(0) ("));
  EXPECT_THAT(e.message(), ::testing::HasSubstr("life_test.cpp:"));
  EXPECT_EQ(a(0).read()[0], 3);
  left.reset();
  EXPECT_NO_THROW(rt.fence());
}

// It would wait for its own task: instead it stays, and says so.
TEST_P(life, a_runtime_that_is_ended_inside_its_own_task_stays_and_tells) {
  machine m = testing::host_only(GetParam());
  std::string told;
  m.log = [&](int, const std::string& line) { told += line; };
  auto rt = std::make_unique<runtime>(std::move(m));
  schedule::scheduler& scheduler = *rt->inside().scheduler;  // which is still there behind it
  auto a = rt->make_array<double>("a", {1}, {1});
  fill(*rt, a(0), 1.0);
  rt->submit(
      "ends", [&rt](view<double>) { rt.reset(); }, update(a(0)));
  const error e = test_support::error_of([&] { scheduler.fence(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), ::testing::HasSubstr("the runtime was ended inside one of its own tasks"));
  EXPECT_THAT(told, ::testing::HasSubstr("the runtime was ended inside one of its own tasks"));
  EXPECT_EQ(rt, nullptr);
}

}  // namespace
}  // namespace tessera
