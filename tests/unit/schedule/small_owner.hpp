#pragma once
// The one that the parts for threads of the program work for, played by a test.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/schedule/program_owner.hpp"
#include "core/schedule/thread_table.hpp"

namespace tessera::schedule {

/// Runs no tasks: while a thread waits, the test's steps happen one after the other.
struct small_owner final : program_owner {
  small_owner() : mine(threads.publish(threads.make())) { mine.is_program = true; }
  thread_context& context_of_this_thread() override { return mine; }
  bool left_behind() const noexcept override { return forked; }
  void commit_unbounded(thread_context&, task::record&) override { ++committed; }
  void run(thread_context&, task::record&) override {}
  void begun(const task::record&) override {}
  void release_successors(thread_context&, task::record&) override {}
  void retire(thread_context&, task::record&, std::uint64_t) override {}
  void destroy_later(block::record&) override {}
  void run_one_task(thread_context&) override {}
  void run_tasks_until(thread_context&, const predicate& enough, std::uint32_t) override {
    ++waited;
    while (!enough()) {
      ASSERT_LT(step, steps.size()) << "no step made the condition true";
      steps[step++]();
    }
  }

  thread_table threads;
  thread_context& mine;
  std::vector<std::function<void()>> steps;
  std::size_t step = 0;
  int waited = 0, committed = 0;
  bool forked = false;
};

}  // namespace tessera::schedule
