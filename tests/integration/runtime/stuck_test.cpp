// Small programs that once stood still: several threads wait, fail, or end something at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "machines.hpp"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// Ends the process when its scope has not ended after a time that no slow machine needs: threads that hang cannot be
/// joined.
class watch {
 public:
  explicit watch(const char* what)
      : m_thread([this, what] {
          const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
          while (!m_done && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(2));
          if (m_done) return;
          std::fprintf(stderr, "hangs: %s\n", what);
          _exit(1);
        }) {}
  ~watch() {
    m_done = true;
    m_thread.join();
  }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

 private:
  std::atomic<bool> m_done{false};
  std::thread m_thread;
};

/// So that another thread sleeps by now, most likely; right in any case.
void leave_time() { std::this_thread::sleep_for(milliseconds(30)); }

operation::definition nowhere() {
  operation::definition d;
  d.name = "nowhere";
  d.enqueue = [](const operation::context&) {};
  d.available = [](const plugin::device&, element_type) { return false; };
  return d;
}

TEST(stuck, the_helpers_place_goes_to_a_thread_that_stays) {
  const watch on("the place of a thread that leaves at once");
  runtime rt(testing::host_only(1));
  auto a = rt.make_array<double>("a", {2}, {1});
  std::atomic<bool> go{false}, runs{false};
  rt.submit(
      "first",
      [&](view<double>) {
        runs = true;
        while (!go) std::this_thread::yield();
      },
      write(a(0)));
  rt.submit(
      "second", [&](view<double> x) { x[0] = 2; }, write(a(1)));
  std::thread helps([&] { (void)a.read_host(a(0)); });
  while (!runs) std::this_thread::yield();
  std::thread leaves([&] { (void)a.read_host(a(0)); });
  leave_time();
  std::thread stays([&] { EXPECT_EQ(a.read_host(a(1))[0], 2); });
  leave_time();
  go = true;
  helps.join();
  leaves.join();
  stays.join();
}

TEST(stuck, both_of_two_fences_wait_until_adopted_memory_is_current) {
  const watch on("two fences");
  runtime rt(testing::machine_of(
      "plugins = [\"host\"]\nplacement = \"pinned\"\nwindow_tasks = 1000000\n" + std::string(testing::two_hosts), 2));
  constexpr std::size_t n = 2000;
  std::vector<double> mine(n, 0.0);
  auto a = rt.adopt("mine", std::span(mine), 1);
  const auto there = rt.at("numa1");
  for (int round = 1; round <= 10; ++round) {
    std::atomic<bool> hold{true};
    for (std::size_t k = 0; k < n; ++k)
      rt.submit(
          "set", {.at = there},
          [&hold, round](view<double> x) {
            while (hold) std::this_thread::yield();
            x[0] = round;
          },
          write(a.block(k)));
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        rt.fence();
        for (const double v : mine) wrong += v != round ? 1 : 0;
      });
    hold = false;
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(wrong, 0u) << "round " << round;
  }
}

TEST(stuck, tasks_that_fail_while_they_are_submitted_end_the_fences_of_others) {
  const watch on("a fence beside a task that runs nowhere");
  runtime rt(testing::with_sims(1, "1 MiB"));
  operation::definition slow = nowhere();
  slow.work = [](const void*, std::span<const block::access>) -> double {  // asked while the task is placed
    leave_time();
    return 1;
  };
  const operation::definition& op = rt.define(std::move(slow));
  auto a = rt.make_array<double>("a", {1}, {1});
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> begun{false};
    std::thread other([&] {
      begun = true;
      try {
        rt.fence();
      } catch (const error& e) {
        EXPECT_THAT(e.what(), HasSubstr("nowhere"));
      }
    });
    while (!begun) std::this_thread::yield();
    const block::access use[] = {write(a(0))};
    rt.submit_operation(op, nullptr, 0, use);
    other.join();
    try {
      rt.fence();
    } catch (const error&) {
    }
  }
}

TEST(stuck, what_follows_a_task_that_fails_in_a_replay_runs_though_its_thread_does_not_help) {
  const watch on("a successor in a lane that does not help");
  runtime rt(testing::with_sims(1, "1 MiB"));
  const operation::definition& op = rt.define(nowhere());
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  rt.fence();
  std::atomic<bool> replayed{false}, done{false};
  std::thread plays([&] {
    recording r = rt.record([&] {
      const block::access use[] = {update(a(0))};
      rt.submit_operation(op, nullptr, 0, use);
      for (int k = 0; k < 3; ++k)
        rt.submit(
            "behind", [](view<double> x) { x[0] += 1; }, update(a(0)));
    });
    rt.replay(r);
    replayed = true;
    while (!done) std::this_thread::yield();  // waits by means of its own
  });
  while (!replayed) std::this_thread::yield();
  EXPECT_THROW(rt.fence(), error);
  done = true;
  plays.join();
}

TEST(stuck, a_view_given_back_is_looked_at_where_there_is_one_memory) {
  const watch on("a full memory after the end of a view");
  runtime rt(testing::machine_of(
      "plugins = [\"host\"]\n[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\npatience = \"10 ms\"\n", 2));
  auto a = rt.make_array<double>("a", {2 * 8192}, {8192});
  fill(rt, a(0), 1.0);
  rt.fence();
  std::thread other;
  {
    auto held = a.read_host(a(0));
    fill(rt, a(1), 2.0);  // no room for it
    other = std::thread([&] { EXPECT_THROW(rt.fence(), error); });
    leave_time();
  }
  other.join();
}

/// One memory, which one block fills; a program that could still make room in it is waited for longer than any watch.
class stuck_in_memory : public ::testing::Test {
 protected:
  runtime rt{testing::machine_of(
      "plugins = [\"host\"]\n[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\npatience = \"1000 s\"\n", 2)};
  array<double> a = rt.make_array<double>("a", {2 * 8192}, {8192});
};

TEST_F(stuck_in_memory, a_thread_that_has_ended_makes_no_room) {
  const watch on("a full memory after the end of a thread");
  fill(rt, a(0), 1.0);
  rt.fence();
  std::atomic<bool> known{false};
  std::thread other([&] {
    rt.fence();
    known = true;
    leave_time();
  });
  while (!known) std::this_thread::yield();
  fill(rt, a(1), 2.0);
  EXPECT_THROW(rt.fence(), error);
  other.join();
}

TEST_F(stuck_in_memory, a_thread_that_waits_elsewhere_makes_no_room) {
  const watch on("a full memory beside a thread at a barrier");
  fill(rt, a(0), 1.0);
  rt.fence();
  std::atomic<bool> known{false}, told{false};
  std::thread other([&] {
    auto held = a.read_host(a(0));
    known = true;
    leave_time();
    const runtime::waiting_elsewhere here(rt);
    while (!told) std::this_thread::yield();
  });
  while (!known) std::this_thread::yield();
  fill(rt, a(1), 2.0);
  EXPECT_THROW(rt.fence(), error);
  told = true;
  other.join();
  EXPECT_EQ(a.read_host(a(0))[8191], 1);
}

TEST_F(stuck_in_memory, a_thread_that_was_made_to_go_on_may_make_room) {
  const watch on("room made by a thread that has left a barrier");
  std::atomic<runtime::waiting_elsewhere*> where{nullptr};
  std::atomic<bool> goes_on{false};
  std::thread other([&] {
    std::optional<array<double>> b = rt.make_array<double>("b", {8192}, {8192});
    fill(rt, (*b)(0), 1.0);
    rt.fence();
    {
      runtime::waiting_elsewhere here(rt);
      where = &here;
      while (!goes_on) std::this_thread::yield();
    }
    b.reset();
  });
  while (where == nullptr) std::this_thread::yield();
  where.load()->end();
  std::thread later([&] {  // the other one is slow to notice
    leave_time();
    goes_on = true;
  });
  fill(rt, a(0), 2.0);
  EXPECT_NO_THROW(rt.fence());
  EXPECT_EQ(a.read_host(a(0))[0], 2);
  later.join();
  other.join();
}

TEST(stuck, the_runtime_ends_with_a_view_of_its_own_thread_and_a_history) {
  const watch on("the end of a runtime that keeps what it learnt");
  const auto file = std::filesystem::temp_directory_path() / ("tessera_history_" + std::to_string(getpid()) + ".txt");
  std::optional<host_view<double>> seen;
  {
    runtime rt(testing::with_sims(1, "1 MiB", false, 2, "placement = \"cost\"\nhistory = \"" + file.string() + "\"\n"));
    auto a = rt.make_array<double>("a", {2}, {1});
    seen.emplace(a.write_host(a(0)));
    (*seen)[0] = 1;
    rt.submit(
        "behind", [](view<double>) {}, update(a(0)));
  }
  seen.reset();
  std::filesystem::remove(file);
}

TEST(stuck, a_task_that_has_used_another_runtime_is_still_a_task) {
  const watch on("a task that uses two runtimes");
  runtime first(testing::machine_of("plugins = [\"host\"]\nwindow_tasks = 64\n", 2)), second(testing::host_only(1));
  auto a = first.make_array<double>("a", {1}, {1});
  auto b = second.make_array<double>("b", {1}, {1});
  fill(first, a(0), 0.0);
  std::atomic<bool> refused{false};
  first.submit(
      "uses both",
      [&](view<double>) {
        fill(second, b(0), 1.0);
        try {
          first.fence();
        } catch (const error&) {
          refused = true;
        }
        for (int k = 0; k < 200; ++k)
          first.submit(
              "behind itself", [](view<double> x) { x[0] += 1; }, update(a(0)));
      },
      update(a(0)));
  first.fence();
  EXPECT_TRUE(refused);
  EXPECT_EQ(a.read_host(a(0))[0], 200);
}

class stuck_with : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, stuck_with, ::testing::Values(1u, 2u));

TEST_P(stuck_with, a_recording_that_ends_in_a_task) {
  const watch on("the end of a recording in a task");
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {2}, {1});
  for (int k = 0; k < 2; ++k) fill(rt, a(k), 0.0);
  {
    recording r = rt.record([&] {
      rt.submit(
          "recorded", [](view<double> x) { x[0] += 1; }, update(a(0)));
    });
    rt.submit(
        "late", {.priority = -1}, [](view<double> x) { x[0] = 1; }, update(a(0)));
    rt.replay(r);
    rt.submit(
        "end", [kept = std::make_shared<recording>(std::move(r))](view<double>) mutable { kept.reset(); },
        update(a(1)));
  }
  rt.fence();
  EXPECT_EQ(a.read_host(a(0))[0], 2);
}

TEST_P(stuck_with, a_replay_in_a_task_is_refused_at_once) {
  const watch on("a replay in a task");
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {2}, {1});
  for (int k = 0; k < 2; ++k) fill(rt, a(k), 0.0);
  rt.fence();
  recording r = rt.record([&] {
    rt.submit(
        "recorded", [](view<double> x) { x[0] += 1; }, update(a(0)));
  });
  rt.submit(
      "late", {.priority = -1}, [](view<double> x) { x[0] = 1; }, update(a(0)));
  rt.replay(r);
  rt.replay(r);
  rt.submit(
      "replays", [&](view<double>) { rt.replay(r); }, update(a(1)));
  try {
    rt.fence();
    ADD_FAILURE() << "not refused";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("a replay inside a task"));
  }
}

}  // namespace
}  // namespace tessera
