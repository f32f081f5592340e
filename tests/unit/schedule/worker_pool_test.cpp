// The workers by themselves: what they run is counted, not computed. A lost wake-up hangs these tests.
#include "core/schedule/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

/// One memory, one place, and contexts: number 0 is that of the test's own thread.
struct crew {
  explicit crew(std::uint32_t workers, std::chrono::nanoseconds spin = {}) : spins(spin) {
    places.push_back(std::make_unique<placement::place>());
    for (std::uint32_t k = 0; k < workers; ++k) {
      add(k == 0);
      queues.add_core(threads[k].location, 0);
    }
    cost.learn_task(small.number, 1);
    pool.prepare(std::vector<std::vector<std::uint32_t>>(workers), false);
  }
  ~crew() { pool.stop(); }
  /// Before any thread runs: it edits the tree.
  thread_context& add(bool is_program) {
    thread_context& fresh = threads.publish(threads.make());
    fresh.is_program = is_program;
    location::properties core;
    core.name = "core" + std::to_string(fresh.number);
    fresh.location = tree.add(tree.root(), core);
    return fresh;
  }
  void start() {
    pool.start([this](std::uint32_t k) {
      pool.worker_loop(
          *this, threads[k], [this] { return pool.stopped(); }, 0);
      ++ended;
    });
  }
  /// As a thread of the program does that has submitted a short task.
  bool keep(thread_context& mine) {
    tasks.push_back(std::make_unique<task::record>());
    tasks.back()->operation = &small;
    mine.submitted.store(mine.submitted.load() + 1);
    if (!queues.keep(mine, *tasks.back(), *places[0])) return false;
    pool.note_kept_task();
    return true;
  }
  /// By the thread of `mine`: so many tasks more.
  void queue(thread_context& mine, int count) {
    for (int k = 0; k < count; ++k) {
      tasks.push_back(std::make_unique<task::record>());
      if (queues.push(mine, *tasks.back(), *places[0], when_ready::queue)) pool.note_task();
    }
  }
  void wait_for(int count) const {
    for (int now = ran; now < count; now = ran) ran.wait(now);
  }

  // What worker_pool calls a Host.
  void run(thread_context& mine, task::record&) {
    if (mine.number == 0) ++ran_by_test;
    ++ran;
    ran.notify_all();
  }
  void run_gathered(thread_context& mine, task::record& t) { run(mine, t); }
  bool resolve_deadlock(thread_context& mine) {
    ++looks;
    return released && released(mine);
  }

  static location::properties machine() {
    location::properties root;
    root.name = "machine";
    return root;
  }

  const std::chrono::nanoseconds spins;
  transfer::rig rig{{}};
  location::tree tree{machine()};
  placement::placer placer{{&tree, rig.is.get(), nullptr}, "eager"};
  std::vector<std::unique_ptr<placement::place>> places;
  std::vector<std::unique_ptr<task::record>> tasks;
  thread_table threads;
  moving_cost cost;
  operation::definition small;
  worker_queues queues{{.threads = &threads, .places = &places, .tree = &tree, .cost = &cost}};
  std::atomic<int> ran{0}, ran_by_test{0}, looks{0}, ended{0};
  std::function<bool(thread_context&)> released;
  worker_pool pool{{.queues = &queues,
                    .placer = &placer,
                    .places = &places,
                    .coherence = rig.is.get(),
                    .spin = spins,
                    .window_tasks = 1024}};
};

TEST(worker_pool, runs_what_is_queued) {
  crew c(3);
  c.start();
  EXPECT_EQ(c.pool.threads(), 2u);
  c.queue(c.threads[0], 1000);
  c.wait_for(1000);
  EXPECT_EQ(c.ran_by_test, 0) << "this thread did not wait in the pool";
}

TEST(worker_pool, a_thread_that_waits_is_worker_0) {
  crew c(1);
  c.start();
  EXPECT_EQ(c.pool.threads(), 0u);
  c.queue(c.threads[0], 100);
  c.pool.run_tasks_until(
      c, c.threads[0], [&] { return c.ran == 100; }, 0);
  EXPECT_EQ(c.ran_by_test, 100);
  EXPECT_FALSE(c.threads[0].waits) << "nor does it wait any more";
}

TEST(worker_pool, a_thread_that_need_not_wait_for_all_looks_between_tasks) {
  crew c(1);
  c.queue(c.threads[0], 100);
  c.pool.run_tasks_until(
      c, c.threads[0], [&] { return c.ran >= 8; }, 4);
  EXPECT_EQ(c.ran, 8);
  c.pool.run_one_task(c, c.threads[0]);
  EXPECT_EQ(c.ran, 9);
}

TEST(worker_pool, a_worker_that_sleeps_is_woken_for_a_task) {
  crew c(2);
  c.start();
  for (int k = 1; k <= 2000; ++k) {
    while (c.looks < k) std::this_thread::yield();  // it is the only one, and about to sleep
    c.queue(c.threads[0], 1);
    c.wait_for(k);
  }
}

// The submitter may go on to compute for as long as it likes.
TEST(worker_pool, a_kept_task_is_run_by_a_worker_when_its_thread_does_something_else) {
  for (const std::uint32_t workers : {2u, 3u})
    for (const bool asleep : {true, false}) {
      crew c(workers);
      c.start();
      int before = 0;
      for (int k = 1; k <= 200; ++k) {
        while (asleep && k % 16 == 1 && c.looks == before) std::this_thread::yield();  // all sleep, or are about to
        before = c.looks;
        ASSERT_TRUE(c.keep(c.threads[0]));
        c.wait_for(k);
      }
      EXPECT_EQ(c.ran_by_test, 0);
    }
}

TEST(worker_pool, a_worker_that_watches_a_kept_task_is_called_for_another_one) {
  crew c(2);
  thread_context& second = c.add(true);
  c.start();
  std::atomic<bool> over{false};
  ASSERT_TRUE(c.keep(c.threads[0]));
  std::thread goes_on([&] {  // as the submitter of the kept task would
    while (!over) c.threads[0].submitted.store(c.threads[0].submitted.load() + 1);
  });
  for (int k = 0; k < 100; ++k) c.queue(second, 1);
  while (c.ran < 100) std::this_thread::yield();
  over = true;
  goes_on.join();
  c.wait_for(101);
  EXPECT_EQ(c.ran, 101);
}

TEST(worker_pool, threads_that_wait_are_woken_when_it_is_enough) {
  crew c(1);
  thread_context* const contexts[] = {&c.threads[0], &c.add(true), &c.add(true)};
  std::atomic<bool> enough[] = {false, false, false};
  std::vector<std::thread> waiting;
  for (int k = 0; k < 3; ++k)  // one of them is worker 0, the others sleep among themselves
    waiting.emplace_back([&, k] {
      c.pool.run_tasks_until(
          c, *contexts[k], [&enough, k] { return enough[k].load(); }, 0);
      ++c.ended;
    });
  for (const thread_context* one : contexts)
    while (!one->waits) std::this_thread::yield();
  int woken = 0;
  for (const int k : {1, 0, 2}) {
    EXPECT_EQ(c.ended, woken++);
    enough[k] = true;
    c.pool.wake_waiters();
    waiting[static_cast<std::size_t>(k)].join();
  }
  EXPECT_EQ(c.ended, 3);
}

TEST(worker_pool, who_waits_takes_the_place_of_worker_0_when_it_becomes_free) {
  crew c(1);
  thread_context& second = c.add(true);
  std::atomic<bool> enough{false};
  std::thread first([&] {
    c.pool.run_tasks_until(
        c, c.threads[0], [&] { return enough.load(); }, 0);
  });
  while (c.looks == 0) std::this_thread::yield();  // it has the place
  std::thread other([&] {
    c.pool.run_tasks_until(
        c, second, [&] { return c.ran == 10; }, 0);
  });
  while (!second.waits) std::this_thread::yield();
  enough = true;
  c.pool.wake_waiters();
  first.join();
  c.queue(c.threads[0], 10);
  other.join();
  EXPECT_EQ(c.ran, 10);
  EXPECT_EQ(c.ran_by_test, 0) << "the context of the thread that has gone";
}

TEST(worker_pool, the_last_that_finds_nothing_looks_for_tasks_that_wait_in_vain) {
  crew c(1);
  c.released = [&](thread_context& mine) {
    c.queue(mine, 1);
    return true;
  };
  c.pool.run_tasks_until(
      c, c.threads[0], [&] { return c.ran == 3; }, 0);
  EXPECT_EQ(c.looks, 3);
  bool given_up = false;
  c.released = [&](thread_context&) { return given_up = true; };
  c.pool.run_tasks_until(
      c, c.threads[0], [&] { return given_up; }, 0);
  EXPECT_EQ(c.looks, 4) << "it does not sleep after that, and needs no call";
}

TEST(worker_pool, stop_ends_all_threads) {
  crew c(4, std::chrono::milliseconds(1));
  c.start();
  c.queue(c.threads[0], 10);
  c.wait_for(10);
  c.pool.stop();
  EXPECT_EQ(c.ended, 3);
  EXPECT_EQ(c.pool.threads(), 0u);
  EXPECT_TRUE(c.pool.stopped());
}

/// Copied once per thread; the system refuses the third.
struct refused_body {
  std::atomic<int>* copies;
  std::atomic<int>* begun;
  explicit refused_body(std::atomic<int>& made, std::atomic<int>& ran) : copies(&made), begun(&ran) {}
  refused_body(const refused_body& other) : copies(other.copies), begun(other.begun) {
    if (++*copies > 2) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  refused_body& operator=(const refused_body&) = delete;
  void operator()(std::uint32_t) const { ++*begun; }
};

TEST(worker_pool, a_refused_thread_is_reported_and_those_before_it_run) {
  crew c(5);
  std::atomic<int> copies{0}, begun{0};
  const std::function<void(std::uint32_t)> body(refused_body(copies, begun));
  copies = 0;
  EXPECT_THROW(c.pool.start(body), std::system_error);
  EXPECT_EQ(c.pool.threads(), 2u);
  c.pool.stop();
  EXPECT_EQ(begun, 2);
}

TEST(worker_pool, in_a_run_in_virtual_time_a_task_is_noted_and_nobody_woken) {
  crew c(1);
  bool host_work = false;
  c.pool.play(host_work);
  c.queue(c.threads[0], 1);
  EXPECT_TRUE(host_work);
}

TEST(worker_pool, workers_look_at_who_waits_less_often_where_the_window_is_large) {
  crew two(2), many(256);
  EXPECT_EQ(two.pool.look_every(), 32u) << "a sixteenth of a window of 1024, dealt out";
  EXPECT_EQ(many.pool.look_every(), 1u);
}

}  // namespace
}  // namespace tessera::schedule
