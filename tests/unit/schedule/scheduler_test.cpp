// What the scheduler promises about order, stealing and open tasks, seen through a runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

TEST(scheduler, idle_workers_steal) {
  runtime rt(testing::host_only(2));
  std::atomic<int> arrived{0};
  for (int k = 0; k < 2; ++k)
    rt.submit("meet", [&] {  // each waits for the other: two threads must take part
      ++arrived;
      while (arrived.load() < 2) std::this_thread::yield();
    });
  rt.fence();
  EXPECT_GE(rt.statistics().steals, 1u) << "a worker that submits nothing has nothing but what it steals";
}

// A thread that has fed a chain of short tasks keeps the next one, but not for longer than it goes on.
TEST(scheduler, a_task_runs_while_the_thread_that_has_submitted_it_does_something_else) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<std::int64_t>("a", {1}, {1});
  fill(rt, a.block(0), std::int64_t{0});
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    const int count = round % 2 == 0 ? 5000 : 100;
    for (int k = 0; k < count; ++k)
      rt.submit(
          "link", [&ran](view<std::int64_t> x) { ++x[0], ran.fetch_add(1, std::memory_order_relaxed); },
          update(a.block(0)));
    while (ran < count) std::this_thread::yield();  // not in the runtime: nobody but the worker runs tasks
    rt.fence();
  }
  EXPECT_EQ(a.read_host(a.block(0))[0], 10 * 5100);
}

/// The number of the worker that the calling thread is; -1: none.
int this_worker() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  const std::string_view text = name;
  return text.starts_with("tsr-worker") ? std::atoi(name + 10) : -1;
}

TEST(scheduler, the_nearest_worker_is_robbed_first) {
  // Workers 0 and 1 are in one package, 2 and 3 in the other. 0 is this thread, which waits for nothing meanwhile.
  runtime rt(
      testing::machine_of("plugins = [\"host\"]\n[topology]\nsynthetic = \"numa:1 package:2 core:2 pu:1\"\n", 4));
  for (const int thief : {2, 3}) {
    const int near = 5 - thief;
    std::atomic<unsigned> present{0}, submitted{0};
    std::atomic<bool> leave{false}, over{false};
    std::mutex lock;
    std::vector<int> stolen;  // whose tasks the thief has run, in order
    for (int k = 0; k < 3; ++k)
      rt.submit("occupy", [&] {
        const int me = this_worker();
        ++present;
        while (present < 3) std::this_thread::yield();  // each worker has one of these
        if (me == thief) {
          while (!leave) std::this_thread::yield();
          return;
        }
        for (int child = 0; child < 40; ++child)
          rt.submit("child", [&, me] {
            const std::lock_guard guard(lock);
            if (this_worker() == thief) stolen.push_back(me);
          });
        ++submitted;
        while (!over) std::this_thread::yield();
      });
    while (submitted < 2) std::this_thread::yield();
    leave = true;
    const auto taken = [&] {
      const std::lock_guard guard(lock);
      return stolen.size();
    };
    while (taken() < 78) std::this_thread::yield();  // each of the others may keep one that it runs next
    over = true;
    rt.fence();
    const auto far = std::ranges::find(stolen, 1);
    EXPECT_GE(std::count(stolen.begin(), far, near), 39)
        << "worker " << thief << " takes all of worker " << near << "'s first";
    EXPECT_GE(std::count(far, stolen.end(), 1), 39) << "and then those of the other package";
  }
}

TEST(scheduler, one_worker_runs_by_priority_then_by_age) {
  runtime rt(testing::host_only(1));
  struct mark {
    int priority, number;
    bool operator==(const mark&) const = default;
  };
  std::vector<mark> ran, expected;
  std::mt19937 random(3);
  for (int k = 0; k < 300; ++k) {
    const int priority = static_cast<int>(random() % 7) - 3;
    expected.push_back({priority, k});
    rt.submit("mark", {.priority = static_cast<std::int16_t>(priority)}, [&ran, priority, k] {
      ran.push_back({priority, k});
    });
  }
  ASSERT_TRUE(ran.empty()) << "with one worker nothing runs before the fence";
  rt.fence();
  std::ranges::stable_sort(expected, std::greater<>{}, &mark::priority);
  EXPECT_EQ(ran, expected) << "negative priorities after those of zero";
}

TEST(scheduler, priorities_do_not_break_dependencies) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<std::int64_t>("a", {1}, {1});
  fill(rt, a(0), std::int64_t{0});
  std::mt19937 random(5);
  for (std::int64_t k = 0; k < 2000; ++k)
    rt.submit(
        "step", {.priority = static_cast<std::int16_t>(random() % 200 - 100)},
        [k](view<std::int64_t> x) { x[0] = x[0] * 7 % 1000003 + k; }, update(a(0)));
  std::int64_t expected = 0;
  for (std::int64_t k = 0; k < 2000; ++k) expected = expected * 7 % 1000003 + k;
  EXPECT_EQ(a.read_host(a(0))[0], expected);
}

/// Submits `count` tasks of a chain whose first task is held back; returns how many were accepted at most at one time.
std::uint64_t most_open(runtime& rt, array<std::uint8_t>& a, std::uint64_t expected_stop, int count) {
  std::atomic<bool> go{false};
  std::atomic<std::uint64_t> most{0};
  const std::uint64_t before = rt.tasks_submitted();
  std::thread submitter([&] {
    for (int k = 0; k < count; ++k) {
      rt.submit(
          "chain",
          [&go](view<std::uint8_t>) {
            while (!go.load()) std::this_thread::yield();
          },
          update(a(0)));
      most = std::max(most.load(), rt.tasks_submitted() - rt.tasks_retired());
    }
  });
  // It gets as far as the window: a wrong window that is smaller hangs here, one that is larger is seen below.
  while (rt.tasks_submitted() - before < expected_stop) std::this_thread::yield();
  for (int k = 0; k < 1000; ++k) std::this_thread::yield();
  const std::uint64_t stopped_at = rt.tasks_submitted() - before;
  go = true;
  submitter.join();
  rt.fence();
  EXPECT_EQ(stopped_at, expected_stop);
  return most;
}

TEST(scheduler, the_window_bounds_the_open_tasks) {
  for (const unsigned workers : {1u, 2u}) {
    runtime rt(testing::machine_of("plugins = [\"host\"]\nwindow_tasks = 16\n", workers));
    auto a = rt.make_array<std::uint8_t>("a", {1024}, {1024});
    fill(rt, a(0), std::uint8_t{0});
    rt.fence();
    EXPECT_LE(most_open(rt, a, 16, 200), 16u);
  }
}

TEST(scheduler, the_window_in_bytes_bounds_the_open_tasks_also_after_sums) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\nwindow_bytes = \"16 KiB\"\n", 2));
  auto a = rt.make_array<std::uint8_t>("a", {1024}, {1024});
  auto sum = rt.make_array<double>("sum", {128}, {128}), one = rt.make_array<double>("one", {128}, {128});
  fill(rt, a(0), std::uint8_t{0});
  fill(rt, one(0), 1.0);
  fill(rt, sum(0), 0.0);
  // The runtime's own reductions touch more bytes than anybody submitted; they must not widen the window.
  for (int k = 0; k < 200; ++k) {
    axpy_accumulate(rt, 1.0, one(0), sum(0));
    scal(rt, 1.0, sum(0));
  }
  EXPECT_EQ(sum.read_host(sum(0))[5], 200.0);
  {
    auto gone = rt.make_array<double>("gone", {64 * 128}, {128});  // destruction counts on neither side
    for (int k = 0; k < 64; ++k) fill(rt, gone(k), 1.0);
  }
  rt.fence();
  EXPECT_LE(most_open(rt, a, 16, 200), 17u);
}

TEST(scheduler, a_view_that_overwrites_heals_a_block_that_a_failed_task_spoiled) {
  for (const bool devices : {false, true}) {
    runtime rt(devices ? testing::with_sims(1, "1 MiB") : testing::host_only(2));
    auto a = rt.make_array<double>("a", {4}, {4});
    fill(rt, a(0), 1.0);
    rt.submit(
        "explode", [](view<double>) { throw std::runtime_error("boom"); }, update(a(0)));
    EXPECT_THROW(rt.fence(), error);
    {
      auto v = a.write_host(a(0));
      std::fill(v.begin(), v.end(), 3.0);
    }
    EXPECT_EQ(a.read_host(a(0))[3], 3.0);
    scal(rt, 2.0, a(0));
    EXPECT_EQ(a.read_host(a(0))[0], 6.0);
  }
}

TEST(scheduler, a_task_may_add_to_a_block_that_it_reads) {
  for (const bool devices : {false, true}) {
    runtime rt(devices ? testing::with_sims(1, "1 MiB") : testing::host_only(3));
    auto a = rt.make_array<double>("a", {8}, {8});
    fill(rt, a(0), 1.0);
    double expected = 1;
    for (int k = 0; k < 50; ++k) {
      rt.submit(
          "double",
          [](view<double> sum, view<const double> x) {
            for (std::int64_t i = 0; i < x.size(); ++i) sum[i] += x[i];
          },
          accumulate(a(0)), read(a(0)));
      rt.submit(
          "half",
          [](view<double> x) {
            for (double& v : x) v *= 0.5;
          },
          update(a(0)));
    }
    EXPECT_EQ(a.read_host(a(0))[7], expected);
  }
}

}  // namespace
}  // namespace tessera
