// Blocks that are lent to the program: when they come, what they cost, and what is refused.
#include "core/schedule/view_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/error_of.hpp"
#include "tests/unit/schedule/played_run.hpp"

namespace tessera::schedule {
namespace {

using test_support::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const operation::definition writes_block{
    .name = "writes", .host = [](const operation::context& c) { *static_cast<std::int64_t*>(c.operands[0].host) = 5; }};
const operation::definition refuses_block{
    .name = "refuses", .host = [](const operation::context&) { throw error(error_kind::task, "no"); }};

/// A view that is asked for and granted.
std::unique_ptr<host_access> view_of(played_run& run, block::record& b, intent how) {
  auto held = run.views.request(b, how, std::source_location::current());
  run.views.wait_for(held);
  return held;
}

TEST(view_requests, a_view_comes_when_the_tasks_before_it_have_run) {
  played_run run;
  block::record& b = run.machine.make();
  run.submit(writes_block, {{&b, intent::write}});
  auto held = run.views.request(b, intent::read, std::source_location::current());
  EXPECT_EQ(held->step, host_access::access_step::waits);
  EXPECT_EQ(run.held.held(), 0u) << "it only has its place in the order";
  run.views.wait_for(held);
  EXPECT_THAT(run.take(), ElementsAre("writes")) << "the thread runs what it waits for";
  EXPECT_EQ(*static_cast<std::int64_t*>(held->pointer), 5);
  EXPECT_EQ(run.held.held(), 1u);
  EXPECT_EQ(run.views.held_here(), 1u);
  EXPECT_TRUE(run.views.all_held_here());
  EXPECT_EQ(run.endings, 1) << "a window counts it as one that does not end by itself";
  run.views.end(*held);
  EXPECT_EQ(run.held.held(), 0u);
  EXPECT_EQ(run.threads.submitted(), run.threads.retired());
}

TEST(view_requests, tasks_behind_a_view_that_writes_wait_for_its_end) {
  played_run run;
  block::record& b = run.machine.make();
  const auto held = view_of(run, b, intent::write);
  run.submit(writes_block, {{&b, intent::update}});
  EXPECT_FALSE(run.step()) << "the block is in the hands of the program";
  *static_cast<std::int64_t*>(held->pointer) = 1;
  run.views.end(*held);
  EXPECT_TRUE(run.step());
  EXPECT_THAT(run.take(), ElementsAre("writes"));
}

TEST(view_requests, tasks_that_read_do_not_wait_for_views_that_read) {
  played_run run;
  const operation::definition reads{.name = "reads", .host = [](const operation::context&) {}};
  block::record& b = run.machine.make();
  run.submit(writes_block, {{&b, intent::write}});
  const auto first = view_of(run, b, intent::read), second = view_of(run, b, intent::read);
  EXPECT_EQ(run.held.held(), 2u);
  run.submit(reads, {{&b, intent::read}});
  EXPECT_TRUE(run.step());
  EXPECT_THAT(run.take(), ElementsAre("writes", "reads"));
  run.views.end(*first);
  run.views.end(*second);
}

TEST(view_requests, a_block_that_is_elsewhere_is_brought_home_first) {
  played_run run({"alpha"});
  block::record& b = run.machine.make();
  run.machine.put(b, 1, 8);
  const auto held = view_of(run, b, intent::read);
  EXPECT_EQ(*static_cast<std::int64_t*>(held->pointer), 8);
  EXPECT_EQ(run.machine.pins(b, 0), 1u) << "and stays as long as it is held";
  run.views.end(*held);
  EXPECT_EQ(run.machine.pins(b, 0), 0u);
}

TEST(view_requests, what_a_failed_task_should_have_made_is_refused_with_its_words) {
  played_run run;
  block::record& b = run.machine.make();
  run.submit(refuses_block, {{&b, intent::write}});
  const error e = error_of([&] { (void)view_of(run, b, intent::read); });
  EXPECT_EQ(e.kind(), error_kind::task);
  EXPECT_THAT(e.message(), HasSubstr("refuses failed: no"));
  EXPECT_EQ(run.held.held(), 0u);
  EXPECT_EQ(run.views.held_here(), 0u);
  EXPECT_EQ(run.failed.take_for(run.mine.user_serial).first, nullptr) << "this thread has been told";
}

TEST(view_requests, are_for_the_program_outside_of_tasks_and_recordings) {
  played_run run;
  block::record& b = run.machine.make();
  const auto ask = [&] { (void)run.views.request(b, intent::read, std::source_location::current()); };
  {
    const thread_context::runtime_scope in_a_task(run.mine);
    const error e = error_of(ask);
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_EQ(e.message(), "a host view inside a task");
    EXPECT_THAT(e.where(), HasSubstr("view_requests_test.cpp"));
  }
  task::graph_recorder taker(run.machine.table, run.operations.reduce, run.operations.combine);
  run.mine.recorder = &taker;
  EXPECT_EQ(error_of(ask).message(), "a host view inside a recording");
  run.mine.recorder = nullptr;
  EXPECT_EQ(run.threads.submitted(), 0u) << "nothing has its place in the order";
}

TEST(view_requests, a_thread_that_waits_for_itself_is_told_and_what_it_gave_up_ends_when_its_turn_comes) {
  played_run run;
  block::record &held_block = run.machine.make(), &wanted = run.machine.make();
  const auto held = view_of(run, held_block, intent::write);
  run.submit(writes_block, {{&wanted, intent::write}, {&held_block, intent::read}});
  run.meanwhile = [&] { run.mine.wait_is_hopeless = true; };  // what the last worker that is awake finds
  auto asked = run.views.request(wanted, intent::read, std::source_location::current());
  const error e = error_of([&] { run.views.wait_for(asked); });
  EXPECT_EQ(asked, nullptr);
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), HasSubstr("this thread waits for itself"));
  EXPECT_THAT(e.message(), HasSubstr(block::name_of(held_block)));
  run.meanwhile = nullptr;
  run.mine.wait_is_hopeless = false;
  run.views.end(*held);
  run.finish();
  EXPECT_EQ(run.threads.submitted(), run.threads.retired()) << "the view that was given up has ended too";
  EXPECT_EQ(run.held.held(), 0u);
}

TEST(view_requests, those_of_a_thread_end_with_the_scheduler_and_then_mean_nothing) {
  played_run run;
  block::record &a = run.machine.make(), &b = run.machine.make();
  const auto first = view_of(run, a, intent::write), second = view_of(run, b, intent::write);
  run.views.end_own();
  EXPECT_EQ(run.held.held(), 0u);
  EXPECT_TRUE(first->ended && second->ended);
  EXPECT_EQ(run.threads.submitted(), run.threads.retired());
  run.views.end(*first);  // the program lets go of it later
  EXPECT_EQ(run.held.held(), 0u) << "it does not end twice";
}

TEST(view_requests, in_a_forked_child_the_end_of_a_view_does_nothing) {
  played_run run;
  block::record& b = run.machine.make();
  const auto held = view_of(run, b, intent::write);
  run.forked = true;
  run.views.end(*held);
  EXPECT_EQ(run.held.held(), 1u);
  run.forked = false;
  run.views.end(*held);
  EXPECT_EQ(run.held.held(), 0u);
}

TEST(view_requests, every_sixty_fourth_lets_a_task_run) {
  played_run run;
  block::record& b = run.machine.make();
  task::record waiting;
  task::renew(waiting);
  run.places[0]->mailbox.push(waiting);  // so that there is something for this thread
  run.submit(writes_block, {{&run.machine.make(), intent::write}});
  for (int k = 1; k < 64; ++k) {
    const auto held = view_of(run, b, intent::write);
    run.views.end(*held);
    EXPECT_THAT(run.take(), IsEmpty()) << k;
  }
  const auto held = view_of(run, b, intent::write);
  EXPECT_THAT(run.take(), ElementsAre("writes")) << "a loop of views does not stop all else";
  run.views.end(*held);
  EXPECT_EQ(run.places[0]->mailbox.pop(), &waiting);
}

TEST(held_by, names_three_views_and_counts_the_rest) {
  played_run run;
  EXPECT_EQ(held_by(run.mine), "");
  std::vector<std::unique_ptr<host_access>> all;
  for (int k = 0; k < 5; ++k) all.push_back(view_of(run, run.machine.make(), intent::write));
  const std::string text = held_by(run.mine);
  EXPECT_THAT(text, HasSubstr(block::name_of(*all[4]->held_by->accesses[0].block) + " ("));
  EXPECT_THAT(text, HasSubstr(block::name_of(*all[2]->held_by->accesses[0].block) + " ("));
  EXPECT_THAT(text, ::testing::Not(HasSubstr(block::name_of(*all[1]->held_by->accesses[0].block) + " (")));
  EXPECT_THAT(text, HasSubstr(" and 2 more")) << "the youngest first";
  run.views.end_own();
}

}  // namespace
}  // namespace tessera::schedule
