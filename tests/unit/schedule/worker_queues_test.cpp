// Which queue a ready task goes to, and in which order a thread looks into the queues. One thread plays all.
#include "core/schedule/worker_queues.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tessera::schedule {
namespace {

/// Two host memories with two threads each, and a driver's; threads 0 and 1 belong to place 0.
class two_places {
 public:
  two_places() {
    for (std::uint32_t p = 0; p < 2; ++p) {
      const location::node_id memory = tree.add(tree.root(), named("numa" + std::to_string(p)));
      places.push_back(std::make_unique<placement::place>());
      places.back()->number = p;
      places.back()->location = memory;
      for (int k = 0; k < 2; ++k) {
        thread_context& fresh = threads.publish(threads.make());
        fresh.place = p;
        fresh.location = tree.add(memory, named("core" + std::to_string(fresh.number)));
        queues.add_core(fresh.location, p);
      }
    }
    thread_context& driver = threads.publish(threads.make());
    driver.is_driver = true;
    driver.location = places[0]->location;
  }
  task::record& task(std::int16_t priority = 0) {
    tasks.push_back(std::make_unique<task::record>());
    tasks.back()->priority = priority;
    return *tasks.back();
  }

  /// As begin and commit do: the thread submits it, and it is ready. Whether the thread keeps it.
  bool submit(thread_context& by, task::record& t) {
    by.submitted.store(by.submitted.load() + 1);
    t.owner = by.number;
    placement::place& where = *places[by.place];
    return queues.keep(by, t, where) || (queues.push(by, t, where, when_ready::queue), false);
  }
  /// A task of an operation that computes for so long.
  task::record& task_of(operation::definition& what, std::uint64_t nanoseconds) {
    cost.learn_task(what.number, nanoseconds);
    task::record& t = task();
    t.operation = &what;
    return t;
  }

  thread_table threads;
  std::vector<std::unique_ptr<placement::place>> places;
  std::vector<std::unique_ptr<task::record>> tasks;
  location::tree tree{named("machine")};
  moving_cost cost;
  worker_queues queues{{.threads = &threads, .places = &places, .tree = &tree, .cost = &cost}};
  operation::definition small = numbered(1), large = numbered(2);

 private:
  static operation::definition numbered(std::uint32_t number) {
    operation::definition one;
    one.number = number;
    return one;
  }
  static location::properties named(const std::string& name) {
    location::properties all;
    all.name = name;
    return all;
  }
};

TEST(worker_queues, a_thread_runs_urgent_tasks_first_then_its_own_then_those_of_the_background) {
  two_places m;
  thread_context& mine = m.threads[0];
  placement::place& home = *m.places[0];
  task::record &last = m.task(-1), &queued = m.task(), &hot = m.task(), &urgent = m.task(1);
  EXPECT_TRUE(m.queues.push(mine, last, home, when_ready::run_next));
  EXPECT_TRUE(m.queues.push(mine, queued, home, when_ready::queue));
  EXPECT_FALSE(m.queues.push(mine, hot, home, when_ready::run_next)) << "nobody else needs to know";
  EXPECT_TRUE(m.queues.push(mine, urgent, home, when_ready::run_next));
  EXPECT_TRUE(m.queues.any());
  EXPECT_FALSE(m.queues.nothing_for(mine));
  for (task::record* expected : {&urgent, &hot, &queued, &last}) EXPECT_EQ(m.queues.next_task(mine), expected);
  EXPECT_EQ(m.queues.next_task(mine), nullptr);
  EXPECT_FALSE(m.queues.any());
  EXPECT_TRUE(m.queues.nothing_for(mine));
}

TEST(worker_queues, only_one_task_is_the_next) {
  two_places m;
  thread_context& mine = m.threads[0];
  task::record &first = m.task(), &second = m.task();
  EXPECT_FALSE(m.queues.push(mine, first, *m.places[0], when_ready::run_next));
  EXPECT_TRUE(m.queues.push(mine, second, *m.places[0], when_ready::run_next)) << "others may take this one";
  EXPECT_EQ(m.queues.next_task(m.threads[1]), &second) << "but not what the other runs next";
  EXPECT_EQ(m.queues.next_task(m.threads[1]), nullptr);
  m.queues.leave_next(mine);
  EXPECT_EQ(m.queues.next_task(m.threads[1]), &first) << "unless it runs no more";
  EXPECT_EQ(m.threads[1].steals.load(), 2u);
}

TEST(worker_queues, tasks_that_asked_for_a_core_wait_for_its_thread_first) {
  two_places m;
  thread_context &mine = m.threads[0], &other = m.threads[1], &far = m.threads[2];
  task::record &asked = m.task(), &own = m.task(), &later = m.task(), &driven = m.task();
  asked.hint = later.hint = driven.hint = other.location;
  own.hint = mine.location;
  EXPECT_TRUE(m.queues.push(mine, asked, *m.places[0], when_ready::run_next)) << "for another thread to run";
  EXPECT_FALSE(m.queues.push(mine, own, *m.places[0], when_ready::run_next));
  EXPECT_TRUE(m.queues.any());
  EXPECT_FALSE(m.queues.nothing_for(other));
  EXPECT_EQ(m.queues.next_task(mine), &own);
  EXPECT_EQ(m.queues.next_task(mine, reach::own_core), nullptr);
  EXPECT_EQ(m.queues.next_task(far, reach::own_core), nullptr);
  EXPECT_EQ(m.queues.next_task(other, reach::own_core), &asked);
  EXPECT_TRUE(m.queues.nothing_for(other));

  EXPECT_FALSE(m.queues.any_at_core());
  EXPECT_TRUE(m.queues.push(mine, later, *m.places[0], when_ready::queue));
  EXPECT_TRUE(m.queues.any_at_core());
  EXPECT_EQ(m.queues.next_task(far, reach::any_core), &later) << "rather than that nobody runs it";
  EXPECT_EQ(far.steals.load(), 1u);
  EXPECT_TRUE(m.queues.push(m.threads[4], driven, *m.places[0], when_ready::run_next)) << "a driver's thread";
  EXPECT_EQ(m.queues.next_task(other, reach::own_core), &driven);
  EXPECT_FALSE(m.queues.any());
}

// A program's thread submits the pieces of a loop, and comes for its own when it waits.
TEST(worker_queues, a_submitter_s_own_core_keeps_its_task_unless_its_thread_stays_away) {
  two_places m;
  thread_context &mine = m.threads[0], &other = m.threads[1];
  std::array<task::record*, 4> t{};
  for (auto& one : t) one = &m.task(), one->hint = mine.location;
  m.queues.push(mine, *t[0], *m.places[0], when_ready::queue);
  EXPECT_EQ(m.queues.next_task(other, reach::own_core), nullptr);
  EXPECT_EQ(m.queues.next_task(mine, reach::own_core), t[0]);

  for (const std::size_t k : {1u, 2u}) m.queues.push(mine, *t[k], *m.places[0], when_ready::queue);
  EXPECT_EQ(m.queues.next_task(other, reach::any_core), t[1]) << "it has looked at it for a while";
  EXPECT_EQ(m.queues.next_task(other, reach::own_core), t[2]) << "and does not wait again";
  EXPECT_EQ(m.queues.next_task(mine, reach::own_core), nullptr) << "now its thread is there";
  m.queues.push(mine, *t[3], *m.places[0], when_ready::queue);
  EXPECT_EQ(m.queues.next_task(other, reach::own_core), nullptr);
  EXPECT_EQ(m.queues.next_task(mine, reach::own_core), t[3]);
}

TEST(worker_queues, a_core_of_another_place_or_without_a_worker_is_no_reason) {
  two_places m;
  task::record &elsewhere = m.task(), &nobody = m.task(), &urgent = m.task(1);
  elsewhere.hint = m.threads[2].location;  // but it was placed in the first memory, where its blocks are
  nobody.hint = m.places[0]->location;
  urgent.hint = m.threads[1].location;
  for (task::record* t : {&elsewhere, &nobody, &urgent})
    m.queues.push(m.threads[0], *t, *m.places[0], when_ready::queue);
  for (task::record* expected : {&urgent, &elsewhere, &nobody})
    EXPECT_EQ(m.queues.next_task(m.threads[0], reach::own_core), expected);
}

TEST(worker_queues, tasks_of_another_place_go_there) {
  two_places m;
  task::record &from_driver = m.task(), &from_worker = m.task();
  EXPECT_TRUE(m.queues.push(m.threads[4], from_driver, *m.places[0], when_ready::run_next));
  EXPECT_TRUE(m.queues.push(m.threads[0], from_worker, *m.places[1], when_ready::run_next));
  EXPECT_EQ(m.queues.next_task(m.threads[2]), &from_worker);
  EXPECT_EQ(m.queues.next_task(m.threads[0]), &from_driver);
}

TEST(worker_queues, the_nearest_thread_is_robbed_first_and_other_places_last) {
  two_places m;
  task::record &near = m.task(), &far = m.task(), &sent = m.task(), &background = m.task(-1);
  EXPECT_TRUE(m.queues.push(m.threads[0], far, *m.places[0], when_ready::queue));
  EXPECT_TRUE(m.queues.push(m.threads[3], near, *m.places[1], when_ready::queue));
  EXPECT_TRUE(m.queues.push(m.threads[3], sent, *m.places[0], when_ready::queue));
  EXPECT_TRUE(m.queues.push(m.threads[3], background, *m.places[0], when_ready::queue));
  for (task::record* expected : {&near, &far, &sent, &background})
    EXPECT_EQ(m.queues.next_task(m.threads[2]), expected);
  EXPECT_EQ(m.queues.next_task(m.threads[2]), nullptr);
}

TEST(worker_queues, what_the_ring_does_not_hold_is_spilled_and_keeps_its_order) {
  two_places m;
  thread_context& mine = m.threads[0];
  std::vector<task::record*> pushed;
  for (std::uint32_t k = 0; k < 3 * ready_ring::capacity; ++k) {
    pushed.push_back(&m.task());
    ASSERT_TRUE(m.queues.push(mine, *pushed.back(), *m.places[0], when_ready::queue));
  }
  for (task::record* expected : pushed) ASSERT_EQ(m.queues.next_task(mine), expected);
  EXPECT_EQ(m.queues.next_task(mine), nullptr);
}

TEST(worker_queues, a_chain_of_successors_does_not_starve_what_others_send) {
  two_places m;
  thread_context& mine = m.threads[0];
  task::record &sent = m.task(), &link = m.task();
  EXPECT_TRUE(m.queues.push(m.threads[3], sent, *m.places[0], when_ready::queue));
  int steps = 0;
  for (task::record* next = &link; next != &sent; ++steps) {
    ASSERT_LT(steps, 200) << "the task from elsewhere waits without end";
    if (next == &link) m.queues.push(mine, link, *m.places[0], when_ready::run_next);
    next = m.queues.next_task(mine);
  }
}

/// The first thread is one of the program, and submits.
struct submitter_and_workers : two_places {
  submitter_and_workers() { mine.is_program = true; }
  thread_context &mine = threads[0], &worker = threads[1];
  /// How many looks of the worker it takes until it finds a task; 0: it does not within 1000.
  int looks_until_found(reach far = reach::any_core) {
    for (int k = 1; k <= 1000; ++k)
      if (queues.next_task(worker, far) != nullptr) return k;
    return 0;
  }
};

TEST(worker_queues, a_thread_that_goes_on_submitting_keeps_the_short_task_that_only_it_feeds) {
  submitter_and_workers m;
  task::record& head = m.task_of(m.small, 10);
  EXPECT_TRUE(m.submit(m.mine, head));
  EXPECT_TRUE(m.queues.any());
  EXPECT_TRUE(m.queues.any_kept());
  EXPECT_FALSE(m.queues.nothing_for(m.mine));
  for (int k = 0; k < 10000; ++k) {
    m.mine.submitted.store(m.mine.submitted.load() + 1);
    ASSERT_EQ(m.queues.next_task(m.worker), nullptr) << "look " << k;
  }
  EXPECT_EQ(m.queues.next_task(m.mine), &head) << "when it waits, it runs the task itself";
  EXPECT_EQ(m.worker.steals.load(), 0u);
  EXPECT_FALSE(m.queues.any());
}

TEST(worker_queues, a_kept_task_is_taken_when_its_thread_does_something_else) {
  submitter_and_workers m;
  EXPECT_TRUE(m.submit(m.mine, m.task_of(m.small, 10)));
  const int looks = m.looks_until_found();
  EXPECT_GT(looks, 1) << "the first look cannot know";
  EXPECT_LT(looks, 20);
  EXPECT_EQ(m.worker.steals.load(), 1u);

  EXPECT_TRUE(m.submit(m.mine, m.task_of(m.small, 10)));
  for (int k = 0; k < 500; ++k) {
    m.mine.submitted.store(m.mine.submitted.load() + 1);
    ASSERT_EQ(m.queues.next_task(m.worker), nullptr);
  }
  const int later = m.looks_until_found();
  EXPECT_GT(later, 1);
  EXPECT_LT(later, 60) << "whoever has seen it go on looks less often, but looks";

  EXPECT_TRUE(m.submit(m.mine, m.task_of(m.small, 10)));
  EXPECT_EQ(m.looks_until_found(reach::kept_too), 1) << "whoever would sleep for long takes it";
  EXPECT_TRUE(m.submit(m.mine, m.task_of(m.small, 10)));
  static_cast<void>(m.queues.next_task(m.worker));
  worker_queues::note_nap(m.worker);
  EXPECT_EQ(m.looks_until_found(), 1) << "nothing was submitted while the worker slept";
}

TEST(worker_queues, of_two_threads_that_keep_tasks_the_one_that_has_stopped_loses_its_own) {
  submitter_and_workers m;
  thread_context& second = m.threads[2];
  second.is_program = true;
  EXPECT_TRUE(m.submit(m.mine, m.task_of(m.small, 10)));
  task::record& left = m.task_of(m.small, 10);
  EXPECT_TRUE(m.submit(second, left));
  task::record* found = nullptr;
  for (int k = 0; k < 2000 && found == nullptr; ++k) {
    m.mine.submitted.store(m.mine.submitted.load() + 1);
    found = m.queues.next_task(m.worker);
  }
  EXPECT_EQ(found, &left);
}

TEST(worker_queues, tasks_that_are_long_not_known_or_not_alone_are_for_all) {
  submitter_and_workers m;
  task::record &large = m.task_of(m.large, 1'000'000), &first = m.task_of(m.small, 10),
               &second = m.task_of(m.small, 10), &third = m.task_of(m.small, 10);
  EXPECT_FALSE(m.submit(m.mine, large));
  EXPECT_EQ(m.queues.next_task(m.worker), &large) << "at the first look";
  EXPECT_TRUE(m.submit(m.mine, first));
  EXPECT_FALSE(m.submit(m.mine, second)) << "now there are two";
  EXPECT_FALSE(m.submit(m.mine, third));
  for (task::record* expected : {&first, &second, &third}) EXPECT_EQ(m.queues.next_task(m.worker), expected);

  operation::definition fresh = m.small;
  fresh.number = 3;
  task::record& unknown = m.task();
  unknown.operation = &fresh;
  EXPECT_FALSE(m.submit(m.mine, unknown));
  EXPECT_EQ(m.queues.next_task(m.worker), &unknown);
  task::record &urgent = m.task_of(m.small, 10), &asked = m.task_of(m.small, 10);
  urgent.priority = 1, asked.hint = m.worker.location;
  EXPECT_FALSE(m.submit(m.mine, urgent));
  EXPECT_FALSE(m.submit(m.mine, asked));
  for (task::record* expected : {&urgent, &asked}) EXPECT_EQ(m.queues.next_task(m.worker), expected);
}

TEST(worker_queues, threads_that_are_no_submitters_keep_nothing) {
  submitter_and_workers m;
  EXPECT_FALSE(m.submit(m.worker, m.task_of(m.small, 10))) << "a worker, in a task that submits";
  const thread_context::task_scope waiting(m.mine);
  EXPECT_FALSE(m.submit(m.mine, m.task_of(m.small, 10))) << "a thread of the program that runs tasks";
}

TEST(worker_queues, how_far_the_cores_are_apart_says_which_tasks_are_kept) {
  submitter_and_workers m;
  EXPECT_FALSE(m.submit(m.mine, m.task_of(m.large, 500)));
  EXPECT_NE(m.queues.next_task(m.mine), nullptr);
  for (int k = 0; k < 100; ++k) m.cost.learn_line(160);
  EXPECT_TRUE(m.submit(m.mine, m.task_of(m.large, 500)));
}

/// The worker runs a chain that the first thread submits: each task makes the next one ready. Returns how many it ran
/// until one was given back; 0: none of so many.
int run_chain(submitter_and_workers& m, operation::definition& what, std::uint64_t nanoseconds, int most,
              bool others = false) {
  for (int k = 1; k <= most; ++k) {
    task::record& t = m.task_of(what, nanoseconds);
    t.owner = m.mine.number;
    if (worker_queues::runs_chain(m.worker) && m.queues.give_back(m.worker, t)) return k;
    m.queues.push(m.worker, t, *m.places[0], when_ready::run_next);
    const bool another = others && k % 8 == 0;
    if (another) m.queues.push(m.worker, m.task(), *m.places[0], when_ready::queue);
    EXPECT_EQ(m.queues.next_task(m.worker), &t);
    if (another) {
      EXPECT_NE(m.queues.next_task(m.worker), nullptr);
    }
  }
  return 0;
}

TEST(worker_queues, a_chain_of_short_tasks_goes_back_to_the_thread_that_submits_it_and_waits) {
  submitter_and_workers m;
  m.mine.waits = true;
  const int after = run_chain(m, m.small, 10, 1000);
  EXPECT_GT(after, 32) << "not at once: a successor stays where its predecessor ran";
  EXPECT_LT(after, 200);
  EXPECT_NE(m.queues.next_task(m.mine), nullptr) << "the thread that waits finds it";
}

TEST(worker_queues, a_chain_goes_back_to_a_thread_that_goes_on_submitting) {
  submitter_and_workers m;
  m.mine.submitted = 1000;
  EXPECT_NE(run_chain(m, m.small, 10, 1000), 0);
  EXPECT_TRUE(m.queues.any_kept());
}

TEST(worker_queues, a_chain_stays_where_the_submitter_is_away_or_tasks_are_long_or_others_wait) {
  submitter_and_workers m;
  EXPECT_EQ(run_chain(m, m.small, 10, 1000), 0) << "it neither waits nor submits";
  m.mine.waits = true;
  EXPECT_EQ(run_chain(m, m.large, 1'000'000, 1000), 0) << "its data are here";
  EXPECT_EQ(run_chain(m, m.small, 10, 1000, true), 0) << "the worker is needed";
}

TEST(worker_queues, a_chain_that_comes_again_and_again_goes_back_less_often) {
  submitter_and_workers m;
  m.mine.waits = true;
  const int first = run_chain(m, m.small, 10, 1000);
  EXPECT_NE(m.queues.next_task(m.worker, reach::kept_too), nullptr);
  const int second = run_chain(m, m.small, 10, 1000);
  EXPECT_GT(second, first);
}

}  // namespace
}  // namespace tessera::schedule
