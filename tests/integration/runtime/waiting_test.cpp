// Threads that wait in the runtime, several at a time: what they wait for comes first, no wake-up goes to a thread that
// cannot use it, and what can never come is refused, in the same way with any number of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "machines.hpp"
#include "tessera/front_end.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

/// Waits for a flag that another thread is to set; false when it was not set within a time that no slow machine needs.
bool soon(const std::atomic<bool>& flag) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!flag) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

class waiting : public ::testing::TestWithParam<unsigned> {};  // workers
INSTANTIATE_TEST_SUITE_P(workers, waiting, ::testing::Values(1u, 2u, 4u));

TEST_P(waiting, a_view_of_a_ready_block_does_not_wait_for_the_queue) {
  runtime rt(testing::host_only(GetParam()));
  auto ready = rt.make_array<double>("ready", {1}, {1});
  auto busy = rt.make_array<double>("busy", {8}, {1});
  fill(rt, ready(0), 7.0);
  fill(rt, busy(0), 0.0);
  rt.fence();
  std::atomic<bool> seen{false}, late{false};
  for (int k = 0; k < 200; ++k)
    rt.submit(
        "queued", [&](view<double> x) { x[0] += 1; }, update(busy(0)));
  // One more per worker that ends when the view is there: a view that waits for the queue never comes.
  for (unsigned k = 0; k < GetParam(); ++k)
    rt.submit(
        "last", [&](view<double>) { late = late || !soon(seen); }, write(busy(k % 7 + 1)));
  EXPECT_EQ(ready.read_host(ready(0))[0], 7);
  seen = true;
  rt.fence();
  EXPECT_FALSE(late);
}

TEST_P(waiting, a_view_comes_when_its_block_is_made_and_no_later) {
  runtime rt(testing::host_only(GetParam()));
  auto made = rt.make_array<double>("made", {1}, {1});
  auto other = rt.make_array<double>("other", {64}, {1});
  const std::thread::id me = std::this_thread::get_id();  // while it waits it may have begun one of the others
  std::atomic<bool> seen{false}, late{false};
  rt.submit(
      "make", [](view<double> x) { x[0] = 3; }, write(made(0)));
  for (int k = 0; k < 64; ++k)
    rt.submit(
        "behind it", [&](view<double>) { late = late || (std::this_thread::get_id() != me && !soon(seen)); },
        write(other(k)));
  EXPECT_EQ(made.read_host(made(0))[0], 3);
  seen = true;
  rt.fence();
  EXPECT_FALSE(late);
}

TEST(waiting, views_of_ready_blocks_let_waiting_tasks_run_where_nothing_else_runs_them) {
  runtime rt(testing::host_only(1));
  auto a = rt.make_array<double>("a", {2}, {1});
  fill(rt, a(0), 1.0);
  rt.fence();
  std::atomic<bool> ran{false};
  rt.submit(
      "elsewhere", [&](view<double>) { ran = true; }, write(a(1)));
  for (int turns = 0; turns < 10'000 && !ran; ++turns) (void)a.read_host(a(0));
  EXPECT_TRUE(ran);
}

TEST(waiting, a_submitter_goes_on_when_half_of_the_window_is_done) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\nwindow_tasks = 64\n", 1));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  rt.fence();
  std::uint64_t most = 0;
  for (int k = 0; k < 300; ++k) {
    const std::uint64_t before = rt.tasks_submitted() - rt.tasks_retired();
    rt.submit(
        "one", [](view<double> x) { x[0] += 1; }, update(a(0)));
    const std::uint64_t open = rt.tasks_submitted() - rt.tasks_retired();
    most = std::max(most, open);
    if (open < before) {  // it has waited
      EXPECT_GE(open, 24u);
      EXPECT_LE(open, 33u);
    }
  }
  EXPECT_LE(most, 64u);
  rt.fence();
  EXPECT_EQ(a.read_host(a(0))[0], 300);
}

TEST(waiting, a_second_submitter_goes_on_at_half_of_the_window_too) {
  // The first thread waits in a fence and is the one that helps; the second only sleeps.
  runtime rt(testing::machine_of("plugins = [\"host\"]\nwindow_tasks = 64\n", 2));
  auto a = rt.make_array<double>("a", {64}, {1});
  std::atomic<bool> fencing{false}, resumed{false}, late{false};
  rt.submit(
      "held", [&](view<double>) { late = late || !soon(resumed); }, write(a(0)));  // keeps the fence waiting
  std::thread second([&] {
    soon(fencing);
    // As many as make this thread wait; those in the second half end when it goes on.
    for (int k = 0; k < 63; ++k)
      rt.submit(
          "one", [&, k](view<double>) { late = late || (k >= 48 && !soon(resumed)); }, write(a(1 + k)));
    resumed = true;
  });
  fencing = true;
  rt.fence();
  second.join();
  EXPECT_FALSE(late);
}

TEST(waiting, a_task_starts_while_several_threads_wait) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\nspin = \"0 s\"\n", 3));
  auto a = rt.make_array<double>("a", {2}, {1});
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> started{false}, late{false};
    std::atomic<int> waits{0};
    rt.submit(
        "held", [&](view<double>) { late = !soon(started); }, write(a(0)));
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k)
      threads.emplace_back([&] {
        ++waits;
        rt.fence();
      });
    while (waits < 3) std::this_thread::yield();
    if (round % 2 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that they sleep; any order will do
    rt.submit(
        "new", [&](view<double>) { started = true; }, write(a(1)));
    for (std::thread& t : threads) t.join();
    ASSERT_FALSE(late) << "round " << round;
  }
}

TEST_P(waiting, a_thread_that_holds_a_view_is_not_held_back_behind_it) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {1}, {1});
  {
    auto mine = a.write_host(a(0));
    mine[0] = 1;
    for (int k = 0; k < 6000; ++k)
      rt.submit(
          "behind", [](view<double> x) { x[0] += 1; }, update(a(0)));
  }
  rt.fence();
  EXPECT_EQ(a.read_host(a(0))[0], 6001);
}

TEST_P(waiting, inside_a_task_is_refused) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {2}, {1});
  fill(rt, a(0), 1.0);
  rt.submit(
      "fences", [&](view<double>) { rt.fence(); }, write(a(1)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("fence inside a task"));
  rt.submit(
      "looks", [&](view<double>) { (void)a.read_host(a(0)); }, write(a(1)));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.what(), HasSubstr("a host view inside a task"));
  rt.submit(
      "settles", [&](view<double>) { front_end(rt).fence(); }, write(a(1)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("inside a task"));
  EXPECT_EQ(a.read_host(a(0))[0], 1) << "and nothing is left behind";
}

TEST_P(waiting, tasks_may_take_a_lock_that_the_submitter_holds_where_submissions_do_not_wait) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  std::mutex lock;
  {
    const runtime::no_waiting on(rt);
    const std::lock_guard guard(lock);
    for (int k = 0; k < 10'000; ++k)
      rt.submit(
          "locks",
          [&](view<double> x) {
            const std::lock_guard inside(lock);
            x[0] += 1;
          },
          update(a(0)));
  }
  rt.fence();
  EXPECT_EQ(a.read_host(a(0))[0], 10'000);
}

TEST(waiting, for_memory_ends_when_another_thread_gives_its_view_back) {
  // Room for one block beside the one that is looked at.
  runtime rt(testing::machine_of(
      "plugins = [\"host\", \"disk\"]\n[memory]\nhost_limit = \"256 KiB\"\nslab_bytes = \"64 KiB\"\n", 2));
  auto a = rt.make_array<double>("a", {4 * 16384}, {16384});  // of 128 KiB
  for (int k = 0; k < 4; ++k) fill(rt, a(k), double(k));
  rt.fence();
  std::atomic<bool> held{false}, more{false};
  std::thread other([&] {
    auto first = a.read_host(a(0));
    held = true;
    soon(more);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // the others wait by now, most likely; right in any case
    EXPECT_EQ(first[5], 0);
  });
  soon(held);
  axpy(rt, 1.0, a(2), a(3));  // both blocks fit only when the view is gone
  more = true;
  EXPECT_NO_THROW(rt.fence());
  other.join();
  EXPECT_EQ(a.read_host(a(3))[7], 5);
}

TEST(waiting, for_memory_that_can_never_come_is_told_although_no_thread_waits) {
  runtime rt(testing::machine_of(
      "plugins = [\"host\"]\n[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\npatience = \"10 ms\"\n", 2));
  auto a = rt.make_array<double>("a", {2 * 8192}, {8192});  // each fills the memory
  fill(rt, a(0), 1.0);
  fill(rt, a(1), 2.0);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (rt.tasks_retired() < rt.tasks_submitted() && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  EXPECT_EQ(rt.tasks_retired(), rt.tasks_submitted());
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("a(1)")) << "whose memory it was";
}

TEST_P(waiting, for_a_task_that_waits_for_a_view_of_the_same_thread_is_an_error) {
  runtime rt(testing::host_only(GetParam()));
  auto x = rt.make_array<double>("x", {1}, {1}), y = rt.make_array<double>("y", {2}, {1});
  fill(rt, x(0), 1.0);
  fill(rt, y(0), 0.0);
  fill(rt, y(1), 5.0);
  for (int round = 0; round < 3; ++round) {
    auto held = x.update_host(x(0));
    held[0] += 1;
    axpy(rt, 1.0, x(0), y(0));
    const error read = error_of([&] { (void)y.read_host(y(0)); });
    EXPECT_EQ(read.kind(), error_kind::usage);
    EXPECT_THAT(read.message(), HasSubstr("this thread waits for itself"));
    EXPECT_THAT(read.message(), HasSubstr("it asks for a view of y(0)"));
    EXPECT_THAT(read.message(), HasSubstr("x(0) ("));
    EXPECT_THAT(read.message(), HasSubstr("waiting_test.cpp:"));
    EXPECT_THAT(read.where(), HasSubstr("waiting_test.cpp:"));
    EXPECT_EQ(error_of([&] { (void)y.update_host(y(0)); }).kind(), error_kind::usage);
    EXPECT_EQ(y.read_host(y(1))[0], 5) << "what does not wait for it can be had";
    scal(rt, 2.0, y(0));  // behind the views that were given up
  }
  rt.fence();
  EXPECT_EQ(y.read_host(y(0))[0], ((0 + 2) * 2 + 3) * 2 * 2 + 4 * 2);
}

TEST(waiting, of_two_threads_for_what_waits_for_the_other_s_view_is_an_error_of_one) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {2}, {1}), y = rt.make_array<double>("y", {2}, {1});
  for (const int k : {0, 1}) {
    fill(rt, x(k), 1.0);
    fill(rt, y(k), 1.0);
  }
  std::atomic<int> holding{0}, refused{0};
  const auto cross = [&](int mine) {
    auto held = x.update_host(x(mine));
    ++holding;
    while (holding < 2) std::this_thread::yield();
    axpy(rt, 1.0, x(1 - mine), y(mine));
    try {
      (void)y.read_host(y(mine));
    } catch (const error& e) {
      refused += e.kind() == error_kind::usage ? 1 : 0;
    }
  };
  std::thread other(cross, 1);
  cross(0);
  other.join();
  EXPECT_EQ(refused, 1) << "whose views end, so that the other has what it wants";
  rt.fence();
  EXPECT_EQ(y.read_host(y(0))[0] + y.read_host(y(1))[0], 4);
}

TEST(waiting, for_itself_is_told_when_the_last_other_thread_has_ended) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {1}, {1}), y = rt.make_array<double>("y", {1}, {1});
  fill(rt, x(0), 1.0);
  fill(rt, y(0), 1.0);
  std::atomic<bool> known{false};
  std::thread other([&] {  // known to the runtime, and doing something else
    (void)y.read_host(y(0));
    known = true;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // until the other asks, most likely; else it passes too
  });
  soon(known);
  {
    const auto held = x.update_host(x(0));
    axpy(rt, 1.0, x(0), y(0));
    EXPECT_EQ(error_of([&] { (void)y.read_host(y(0)); }).kind(), error_kind::usage);
  }
  other.join();
}

TEST(waiting, with_a_view_of_something_else_is_none) {
  for (const unsigned workers : {1u, 2u}) {
    runtime rt(testing::with_sims(1, "16 MiB", false, workers));
    auto x = rt.make_array<double>("x", {64}, {64}), other = rt.make_array<double>("other", {64}, {64});
    fill(rt, x(0), 0.0);
    fill(rt, other(0), 0.0);
    const auto held = other.update_host(other(0));
    for (int k = 0; k < 300; ++k) {  // there and back each time: drivers and copies come to rest again and again
      scal(rt, 2.0, x(0));
      ASSERT_EQ(x.read_host(x(0))[3], 0);
    }
    rt.submit(  // longer than all has to be at rest before a thread is refused
        "long", [](view<double> v) { std::this_thread::sleep_for(std::chrono::milliseconds(60)), v[0] = 1; },
        update(x(0)));
    EXPECT_EQ(x.read_host(x(0))[0], 1);
  }
}

/// A runtime whose threads are told soon that they wait for themselves where another thread does something else.
machine impatient(unsigned workers) {
  return testing::machine_of("plugins = [\"host\"]\npatience = \"50 ms\"\n", workers);
}

TEST_P(waiting, for_its_own_view_is_told_where_another_thread_sits_in_a_join) {
  runtime rt(impatient(GetParam()));
  auto x = rt.make_array<double>("x", {1}, {1}), y = rt.make_array<double>("y", {1}, {1});
  fill(rt, x(0), 1.0);
  fill(rt, y(0), 1.0);
  for (int round = 0; round < 2; ++round) {
    std::thread([&] {  // which this thread joins at once
      const auto held = x.update_host(x(0));
      axpy(rt, 1.0, x(0), y(0));
      const error e = error_of([&] { (void)y.read_host(y(0)); });
      EXPECT_EQ(e.kind(), error_kind::usage);
      EXPECT_THAT(e.message(), HasSubstr("it asks for a view of y(0) while it holds x(0) ("));
      EXPECT_THAT(e.where(), HasSubstr("waiting_test.cpp:"));
    })
        .join();
  }
  rt.fence();
  EXPECT_EQ(y.read_host(y(0))[0], 3);
}

TEST_P(waiting, of_two_threads_for_each_other_s_view_is_told_where_a_third_joins_them) {
  runtime rt(impatient(GetParam()));
  auto x = rt.make_array<double>("x", {2}, {1});
  fill(rt, x(0), 1.0);
  fill(rt, x(1), 1.0);
  std::atomic<int> holding{0}, refused{0};
  const auto cross = [&](int mine) {
    const auto held = x.update_host(x(mine));
    ++holding;
    while (holding < 2) std::this_thread::yield();
    try {
      (void)x.read_host(x(1 - mine));
    } catch (const error& e) {
      refused += e.kind() == error_kind::usage ? 1 : 0;
    }
  };
  std::thread one(cross, 0), two(cross, 1);
  one.join();
  two.join();
  EXPECT_GE(refused, 1);
}

TEST_P(waiting, is_not_told_while_a_thread_that_holds_a_view_does_something) {
  runtime rt(impatient(GetParam()));
  auto x = rt.make_array<double>("x", {1}, {1}), y = rt.make_array<double>("y", {1}, {1});
  fill(rt, x(0), 1.0);
  fill(rt, y(0), 2.0);
  std::atomic<bool> asks{false};
  auto held = std::make_unique<host_view<double>>(x.update_host(x(0)));  // for which the other waits
  std::thread other([&] {
    const auto mine = y.read_host(y(0));
    asks = true;
    EXPECT_EQ(x.read_host(x(0))[0], 5);
  });
  soon(asks);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // much longer than the patience
  (*held)[0] = 5;
  held.reset();
  other.join();
}

TEST_P(waiting, of_a_replay_for_its_thread_s_own_view_is_an_error) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {2}, {1});
  fill(rt, a(0), 0.0);
  fill(rt, a(1), 0.0);
  recording r = rt.record([&] {
    rt.submit(
        "add", [](view<double> v) { v[0] += 1; }, update(a(0)));
  });
  {
    const auto held = a.update_host(a(0));
    rt.replay(r);
    rt.replay(r);
    for (int k = 0; k < 2; ++k) {
      const error e = error_of([&] { rt.replay(r); });
      EXPECT_EQ(e.kind(), error_kind::usage);
      EXPECT_THAT(e.message(), HasSubstr("a replay waits for an earlier replay of the same recording"));
      EXPECT_THAT(e.message(), HasSubstr("a(0) ("));
      EXPECT_THAT(e.where(), HasSubstr("waiting_test.cpp:"));
    }
  }
  rt.replay(r);
  EXPECT_EQ(a.read_host(a(0))[0], 3) << "none of those that were refused, and all others";
  {
    const auto held = a.update_host(a(1));
    for (int k = 0; k < 20; ++k) rt.replay(r);  // it waits for nothing that this thread has
  }
  EXPECT_EQ(a.read_host(a(0))[0], 23);
}

TEST_P(waiting, the_end_of_a_recording_leaves_its_replays_to_views_of_its_thread) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {1}, {1}), sum = rt.make_array<double>("sum", {1}, {1});
  fill(rt, a(0), 0.0);
  fill(rt, sum(0), 0.0);
  const auto kept = std::make_shared<int>(7);
  for (int round = 0; round < 2; ++round) {
    const auto held = a.update_host(a(0));
    {
      recording r = rt.record([&] {
        rt.submit(
            "add", [kept](view<double> v) { v[0] += *kept; }, update(a(0)));
        rt.submit(
            "sum", [](view<const double> v, view<double> all) { all[0] += v[0]; }, read(a(0)), accumulate(sum(0)));
      });
      for (int k = 0; k < 2; ++k) rt.replay(r);
    }
  }
  EXPECT_EQ(a.read_host(a(0))[0], 28);
  rt.fence();
  EXPECT_EQ(kept.use_count(), 1) << "what the recordings had is given back";
  EXPECT_EQ(sum.read_host(sum(0))[0], 7 + 14 + 21 + 28);
}

TEST_P(waiting, the_end_of_a_recording_in_the_task_that_its_replay_waits_for_leaves_it) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  auto r = std::make_shared<std::optional<recording>>();
  std::atomic<bool> replayed{false};
  rt.submit(
      "ends it",
      [&, r](view<double> v) {
        while (!replayed) std::this_thread::yield();
        r->reset();
        v[0] += 100;
      },
      update(a(0)));
  std::thread other([&] {
    r->emplace(rt.record([&] {
      rt.submit(
          "add", [](view<double> v) { v[0] += 1; }, update(a(0)));
    }));
    rt.replay(**r);
    replayed = true;
  });
  other.join();
  rt.fence();
  EXPECT_EQ(a.read_host(a(0))[0], 101);
}

TEST_P(waiting, for_a_block_that_failed_in_one_thread_hides_it_from_no_fence_of_another) {
  runtime rt(testing::host_only(GetParam()));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 1.0);
  const auto fail = [&] {
    rt.submit(
        "fails", [](view<double>) { throw std::runtime_error("boom 44"); }, update(a(0)));
  };
  fail();
  std::thread([&] {
    EXPECT_THAT(error_of([&] { (void)a.read_host(a(0)); }).what(), HasSubstr("boom 44"));
    EXPECT_NO_THROW(rt.fence()) << "this thread knows it";
  }).join();
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("boom 44")) << "this one did not";
  EXPECT_NO_THROW(rt.fence());

  fill(rt, a(0), 1.0);
  fail();
  EXPECT_THAT(error_of([&] { (void)a.read_host(a(0)); }).what(), HasSubstr("boom 44"));
  EXPECT_NO_THROW(rt.fence()) << "told by the view";
}

}  // namespace
}  // namespace tessera
