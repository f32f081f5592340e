// What threads own, and the table of it that grows while others read.
#include "core/schedule/thread_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tessera::schedule {
namespace {

TEST(thread_table, numbers_contexts_as_they_come_and_never_moves_them) {
  thread_table table;
  EXPECT_EQ(table.size(), 0u);
  std::vector<const thread_context*> known;
  for (std::uint32_t k = 0; k < 130; ++k) {  // more than two of its pages
    std::unique_ptr<thread_context> fresh = table.make();
    ASSERT_NE(fresh, nullptr);
    EXPECT_EQ(fresh->number, k);
    EXPECT_EQ(table.size(), k) << "others do not see it before it is published";
    known.push_back(&table.publish(std::move(fresh)));
    EXPECT_EQ(table.size(), k + 1);
  }
  for (std::uint32_t k = 0; k < known.size(); ++k) EXPECT_EQ(&table[k], known[k]);
}

TEST(thread_table, adds_up_what_the_threads_count) {
  thread_table table;
  EXPECT_EQ(table.submitted() + table.retired() + table.steals() + table.fast_versions(), 0u);
  for (std::uint64_t k = 1; k <= 3; ++k) {
    thread_context& one = table.publish(table.make());
    one.submitted = 100 * k;
    one.retired = 10 * k;
    one.steals = k;
    one.versions = 1000 * k;
  }
  EXPECT_EQ(table.submitted(), 600u);
  EXPECT_EQ(table.retired(), 60u);
  EXPECT_EQ(table.steals(), 6u);
  EXPECT_EQ(table.fast_versions(), 6000u);
  EXPECT_EQ(table.sum([](const thread_context& l) { return std::uint64_t{l.number}; }), 0u + 1 + 2);
}

TEST(thread_table, what_others_read_is_complete_while_it_grows) {
  thread_table table;
  constexpr std::uint32_t most = 300;
  std::atomic<bool> torn{false};
  std::thread reader([&] {
    while (table.size() < most)
      for (std::uint32_t k = 0, count = table.size(); k < count; ++k)
        if (table[k].number != k || table[k].place != k + 1) torn = true;
  });
  for (std::uint32_t k = 0; k < most; ++k) {
    std::unique_ptr<thread_context> fresh = table.make();
    fresh->place = k + 1;
    table.publish(std::move(fresh));
  }
  reader.join();
  EXPECT_FALSE(torn);
}

TEST(thread_table, finished_tasks_go_back_to_the_pool_that_they_came_from) {
  thread_table table;
  thread_context &owner = table.publish(table.make()), &other = table.publish(table.make());
  task::record& own = owner.tasks.take();
  table.keep_finished(owner, own);
  EXPECT_EQ(&owner.tasks.take(), &own) << "one's own at once";
  constexpr std::size_t batch = 64;
  std::vector<task::record*> all{&own};
  while (all.size() < batch) all.push_back(&owner.tasks.take());
  for (std::size_t k = 0; k + 1 < batch; ++k) table.keep_finished(other, *all[k]);
  EXPECT_EQ(other.finished[owner.number].count, batch - 1) << "those of others are collected";
  table.keep_finished(other, *all[batch - 1]);
  EXPECT_EQ(other.finished[owner.number].count, 0u);
  EXPECT_EQ(other.finished[owner.number].first, nullptr);
}

TEST(operation_counters, exist_for_operations_that_ran) {
  operation_counters counters;
  for (const std::uint32_t number : {0u, 64u, 200u, operation::catalog::max_operations - 1}) {
    EXPECT_EQ(counters.find(number), nullptr) << number;
    operation_counters::add(counters.of(number).tasks, number + 1);
    ASSERT_NE(counters.find(number), nullptr) << number;
    EXPECT_EQ(counters.find(number)->tasks, number + 1);
    EXPECT_EQ(counters.find(number)->nanoseconds, 0u);
  }
}

TEST(operation_counters, may_be_read_while_their_thread_counts) {
  operation_counters counters;
  std::atomic<bool> backwards{false};
  constexpr std::uint64_t most = 20'000;
  std::thread reader([&] {
    for (std::uint64_t last = 0; last < most;) {
      const operation_counters::counter* const found = counters.find(70);
      const std::uint64_t now = found == nullptr ? 0 : found->tasks.load();
      if (now < last) backwards = true;
      last = now;
    }
  });
  for (std::uint64_t k = 0; k < most; ++k) operation_counters::add(counters.of(70).tasks, 1);
  reader.join();
  EXPECT_FALSE(backwards);
}

TEST(thread_context, is_in_the_program_outside_of_tasks_and_of_drivers) {
  thread_context mine(0);
  EXPECT_TRUE(mine.in_program());
  {
    const thread_context::runtime_scope outer(mine);
    EXPECT_FALSE(mine.in_program());
    { const thread_context::runtime_scope inner(mine); }
    EXPECT_FALSE(mine.in_program()) << "the outer one is still open";
  }
  EXPECT_TRUE(mine.in_program());
  mine.is_driver = true;
  EXPECT_FALSE(mine.in_program());
}

TEST(thread_context, works_as_long_as_any_call_that_runs_tasks) {
  thread_context mine(0);
  {
    const thread_context::task_scope outer(mine);
    { const thread_context::task_scope inner(mine); }
    EXPECT_TRUE(mine.works);
  }
  EXPECT_FALSE(mine.works);
}

TEST(thread_context, announces_uses_in_one_log) {
  thread_context mine(0);
  EXPECT_EQ(mine.uses, nullptr) << "not before it is asked";
  EXPECT_EQ(&mine.announced_uses(), &mine.announced_uses());
}

}  // namespace
}  // namespace tessera::schedule
