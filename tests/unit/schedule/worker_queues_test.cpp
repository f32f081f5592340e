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

  thread_table threads;
  std::vector<std::unique_ptr<placement::place>> places;
  std::vector<std::unique_ptr<task::record>> tasks;
  location::tree tree{named("machine")};
  worker_queues queues{{.threads = &threads, .places = &places, .tree = &tree}};

 private:
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
  worker_queues::leave_next(mine);
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

}  // namespace
}  // namespace tessera::schedule
