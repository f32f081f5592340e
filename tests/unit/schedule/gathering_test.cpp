// Workers that come together for a task of several cores.
#include "core/schedule/gathering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "core/task/pool.hpp"

namespace tessera::schedule {
namespace {

struct gathering_rig {
  task::record& make(std::uint16_t cores, std::int16_t priority = 0) {
    task::record& t = tasks.take();
    t.rare = task::rare_cores;
    t.priority = priority;
    t.need_more().cores = cores;
    return t;
  }
  task::pool tasks{0};
  std::atomic<std::uint32_t> workers{4};
  std::atomic<int> told{0};
  gathering gather{[this] { return workers.load(); }, [this](bool wanted) { told = wanted ? 1 : 0; }};
};
const std::function<bool()> not_enough = [] { return false; };

TEST(gathering, one_core_more_than_there_are_workers_waits_and_lets_others_pass) {
  gathering_rig r;
  task::record &wide = r.make(5), &one = r.make(1);
  r.gather.add(wide);
  EXPECT_FALSE(r.gather.wants_workers());
  EXPECT_EQ(r.gather.attend(0, not_enough).t, nullptr) << "nobody is wanted";
  r.gather.add(one);
  EXPECT_TRUE(r.gather.wants_workers());
  const gathering::team first = r.gather.attend(2, not_enough);
  EXPECT_EQ(first.t, &one);
  EXPECT_EQ(first.workers, std::vector<std::uint32_t>{2});
  r.gather.done(first);
  EXPECT_FALSE(r.gather.wants_workers());
  r.workers = 5;
  r.gather.look_again();
  EXPECT_TRUE(r.gather.wants_workers());
  EXPECT_EQ(r.told.load(), 1);
}

TEST(gathering, the_last_that_comes_runs_the_task_and_the_others_rest_until_it_is_over) {
  gathering_rig r;
  task::record& wide = r.make(3);
  r.gather.add(wide);
  std::atomic<int> ran{0}, rested{0};
  std::atomic<bool> over{false};
  {
    std::vector<std::jthread> workers;
    for (std::uint32_t k = 0; k < 3; ++k)
      workers.emplace_back([&, k] {
        const gathering::team made = r.gather.attend(k, not_enough);
        if (made.t == nullptr) {
          EXPECT_TRUE(over.load()) << "not before the task has run";
          ++rested;
          return;
        }
        EXPECT_EQ(made.t, &wide);
        EXPECT_EQ(made.workers.size(), 3u);
        EXPECT_EQ(made.workers.front(), k);
        ++ran;
        over = true;
        r.gather.done(made);
      });
  }
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(rested.load(), 2);
}

TEST(gathering, the_higher_priority_comes_first) {
  gathering_rig r;
  task::record &a = r.make(1), &b = r.make(1), &c = r.make(1, 5);
  for (task::record* t : {&a, &b, &c}) r.gather.add(*t);
  for (task::record* expected : {&c, &a, &b}) {
    const gathering::team made = r.gather.attend(1, not_enough);
    EXPECT_EQ(made.t, expected);
    r.gather.done(made);
  }
}

TEST(gathering, a_worker_that_need_not_stay_goes_and_so_do_the_others_when_too_few_are_left) {
  gathering_rig r;
  r.workers = 2;
  task::record& wide = r.make(2);
  r.gather.add(wide);
  std::atomic<bool> enough{false};
  std::jthread stays([&] { EXPECT_EQ(r.gather.attend(1, not_enough).t, nullptr); });
  r.workers = 1;  // the place of worker 0 is left
  r.gather.look_again();
  stays.join();
  r.workers = 2;
  r.gather.look_again();
  std::jthread leaves([&] { EXPECT_EQ(r.gather.attend(0, [&] { return enough.load(); }).t, nullptr); });
  enough = true;
  r.gather.notify();
  leaves.join();
  EXPECT_TRUE(r.gather.wants_workers()) << "the task still waits";
}

TEST(gathering, many_tasks_of_different_widths_all_run_and_never_use_more_workers_than_there_are) {
  constexpr int tasks = 300;
  constexpr std::uint32_t workers = 4;
  gathering_rig r;
  std::atomic<int> left{tasks}, busy{0}, most{0};
  std::jthread submits([&] {
    for (int k = 0; k < tasks; ++k) r.gather.add(r.make(static_cast<std::uint16_t>(1 + k % workers)));
  });
  {
    std::vector<std::jthread> all;
    for (std::uint32_t k = 0; k < workers; ++k)
      all.emplace_back([&, k] {
        while (left.load() > 0) {
          const gathering::team made = r.gather.attend(k, [&] { return left.load() <= 0; });
          if (made.t == nullptr) continue;
          const int now = busy.fetch_add(static_cast<int>(made.workers.size())) + static_cast<int>(made.workers.size());
          for (int seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) continue;
          busy.fetch_sub(static_cast<int>(made.workers.size()));
          const bool last = left.fetch_sub(1) == 1;
          r.gather.done(made);
          if (last) r.gather.notify();
        }
      });
  }
  EXPECT_EQ(left.load(), 0);
  EXPECT_LE(most.load(), static_cast<int>(workers));
}

}  // namespace
}  // namespace tessera::schedule
