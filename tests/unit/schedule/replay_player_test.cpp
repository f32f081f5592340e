// Replays step by step: their order among other tasks, how they end, and what is refused.
#include "core/schedule/replay_player.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/unit/schedule/played_run.hpp"

namespace tessera::schedule {
namespace {

using test_support::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Operations of the host, in whose order tests are interested.
const operation::definition first_step{.name = "first", .host = [](const operation::context&) {}, .number = 1000},
    second_step{.name = "second", .host = [](const operation::context&) {}, .number = 1001},
    other_step{.name = "other", .host = [](const operation::context&) {}, .number = 1002};

/// A run, and a recording of two tasks of one block: the second waits for the first.
struct recorded_run {
  recorded_run() : b(run.machine.make()) {
    task::graph_recorder taker(run.machine.table, run.operations.reduce, run.operations.combine);
    for (const operation::definition* const what : {&first_step, &second_step}) {
      task::record& t = run.make(*what, {{&b, what == &first_step ? intent::write : intent::update}});
      (void)taker.add(t);
      take_back(run.mine, t);
    }
    is = taker.finish();
    run.player.blocks().follow(*is);
    playing = std::make_unique<running_replay>(*is, planning);
  }
  ~recorded_run() {
    run.finish();
    run.player.forget(*is);
  }
  void play() { run.player.play(*playing, std::source_location::current()); }

  played_run run;
  block::record& b;
  std::unique_ptr<task::recording> is;
  replay_planning planning;
  std::unique_ptr<running_replay> playing;
};

TEST(running_replay, is_finished_before_it_has_started_and_when_all_ends_are_counted) {
  task::recording recorded;
  recorded.leaf_count = 6;
  replay_planning planning;
  running_replay r(recorded, planning);
  EXPECT_TRUE(r.finished()) << "there is nothing to wait for";
  r.rewind_counts(2);
  r.started = true;
  EXPECT_FALSE(r.finished());
  r.count_done(0, 1);
  r.count_done(1, 2);
  r.count_done(0, 1);
  EXPECT_FALSE(r.finished());
  r.count_done(7, 2);  // a thread that came after the replay began
  EXPECT_TRUE(r.finished());
  r.rewind_counts(2);
  EXPECT_FALSE(r.finished()) << "its next run";
}

TEST(running_replay, ends_are_counted_by_many_threads_at_once) {
  constexpr std::uint32_t threads = 4, each = 5'000;
  task::recording recorded;
  recorded.leaf_count = threads * each;
  replay_planning planning;
  running_replay r(recorded, planning);
  r.rewind_counts(2);  // half of them are younger than the run
  r.started = true;
  std::vector<std::thread> all;
  for (std::uint32_t k = 0; k < threads; ++k)
    all.emplace_back([&, k] {
      for (std::uint32_t n = 0; n < each; ++n) r.count_done(k, 1);
    });
  while (!r.finished()) std::this_thread::yield();
  for (std::thread& one : all) one.join();
  EXPECT_TRUE(r.finished());
}

TEST(replay_planning, restarts_without_what_it_had_found) {
  replay_planning planning{.planned = true, .tries = 3, .plan = std::make_shared<segment_plan>()};
  planning.restart();
  EXPECT_FALSE(planning.planned);
  EXPECT_EQ(planning.tries, 0u);
  EXPECT_EQ(planning.plan, nullptr);
}

TEST(replay_player, plays_the_tasks_in_their_order_and_knows_when_it_is_through) {
  recorded_run r;
  EXPECT_TRUE(r.run.player.wait_for(*r.playing)) << "it has never started";
  r.play();
  EXPECT_FALSE(r.playing->finished());
  EXPECT_EQ(r.run.threads.submitted(), 2u);
  EXPECT_EQ(r.run.ready.size(), 1u);
  r.run.step();
  EXPECT_FALSE(r.playing->finished());
  r.run.step();
  EXPECT_TRUE(r.playing->finished());
  EXPECT_THAT(r.run.take(), ElementsAre("first", "second"));
  EXPECT_EQ(r.run.threads.retired(), 2u);
}

TEST(replay_player, stands_in_program_order_with_the_tasks_around_it) {
  recorded_run r;
  r.run.submit(other_step, {{&r.b, intent::write}});
  r.play();
  r.run.submit(other_step, {{&r.b, intent::update}});
  EXPECT_EQ(r.run.ready.size(), 1u) << "only the task before it can start";
  r.run.finish();
  EXPECT_THAT(r.run.take(), ElementsAre("other", "first", "second", "other"));
}

TEST(replay_player, plays_again_and_again_with_a_wait_in_between) {
  recorded_run r;
  for (int k = 0; k < 3; ++k) {
    r.play();
    EXPECT_TRUE(r.run.player.wait_for(*r.playing));
    EXPECT_TRUE(r.playing->finished());
    EXPECT_THAT(r.run.take(), ElementsAre("first", "second")) << k;
  }
}

TEST(replay_player, of_nothing_is_nothing) {
  played_run run;
  task::graph_recorder taker(run.machine.table, run.operations.reduce, run.operations.combine);
  const std::unique_ptr<task::recording> empty = taker.finish();
  replay_planning planning;
  running_replay r(*empty, planning);
  run.player.play(r, std::source_location::current());
  EXPECT_EQ(run.threads.submitted(), 0u);
  EXPECT_TRUE(run.player.wait_for(r));
}

TEST(replay_player, is_refused_where_a_task_could_not_be_submitted_either) {
  recorded_run r;
  const auto play = [&] { r.play(); };
  {
    const thread_context::runtime_scope in_a_task(r.run.mine);
    EXPECT_EQ(error_of(play).message(), "a replay inside a task");
  }
  task::graph_recorder taker(r.run.machine.table, r.run.operations.reduce, r.run.operations.combine);
  r.run.mine.recorder = &taker;
  const error e = error_of(play);
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_EQ(e.message(), "a replay inside a recording");
  r.run.mine.recorder = nullptr;
  EXPECT_EQ(r.run.threads.submitted(), 0u);
}

TEST(replay_player, whose_array_has_ended_is_refused_by_its_name) {
  recorded_run r;
  r.run.player.blocks().ended(r.b);
  const error e = error_of([&] { r.play(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_EQ(e.message(), block::name_of(r.b) + " has ended before the replay of a recording that uses it");
  EXPECT_EQ(r.run.threads.submitted(), 0u);
}

TEST(replay_player, that_waits_for_a_view_of_its_own_thread_is_told_so) {
  recorded_run r;
  auto held = r.run.views.request(r.b, intent::write, std::source_location::current());
  r.run.views.wait_for(held);
  r.play();
  r.run.meanwhile = [&] { r.run.mine.wait_is_hopeless = true; };
  EXPECT_FALSE(r.run.player.wait_for(*r.playing));
  const error e = error_of([&] { r.run.player.refuse_own_wait("a replay", std::source_location::current()); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), HasSubstr("a replay waits for an earlier replay of the same recording"));
  EXPECT_THAT(e.message(), HasSubstr("views of " + block::name_of(r.b)));
  r.run.meanwhile = nullptr;
  r.run.mine.wait_is_hopeless = false;
  r.run.views.end(*held);
  EXPECT_TRUE(r.run.player.wait_for(*r.playing));
}

TEST(replay_player, counts_itself_where_the_recording_asks_for_it_and_not_while_that_is_held) {
  played_run run;
  block::record& b = run.machine.make();
  const auto count = std::make_shared<std::atomic<std::uint64_t>>(0);
  task::graph_recorder taker(run.machine.table, run.operations.reduce, run.operations.combine);
  taker.count_replays(count);
  task::record& t = run.make(first_step, {{&b, intent::write}});
  (void)taker.add(t);
  take_back(run.mine, t);
  const std::unique_ptr<task::recording> is = taker.finish();
  replay_planning planning;
  running_replay r(*is, planning);
  for (std::uint64_t k = 1; k <= 3; ++k) {
    run.player.play(r, std::source_location::current());
    EXPECT_EQ(*count, k);
    EXPECT_TRUE(run.player.wait_for(r));
  }
  {
    const auto several = run.player.hold(), also = run.player.hold();
    EXPECT_TRUE(several.owns_lock() && also.owns_lock()) << "those who hold it do not keep each other out";
  }
  run.player.forget(*is);
}

TEST(replay_player, arguments_that_only_a_record_can_keep_end_with_the_recording) {
  static int destroyed;
  destroyed = 0;
  played_run run;
  block::record& b = run.machine.make();
  operation::definition kept = first_step;
  kept.plain_arguments = false;
  kept.destroy_arguments = [](void*) { ++destroyed; };
  task::graph_recorder taker(run.machine.table, run.operations.reduce, run.operations.combine);
  task::record& t = run.make(kept, {{&b, intent::write}});
  t.argument_size = 8;
  EXPECT_TRUE(taker.add(t)) << "the record stays with the recording";
  const std::unique_ptr<task::recording> is = taker.finish();
  replay_planning planning;
  running_replay r(*is, planning);
  run.player.play(r, std::source_location::current());
  EXPECT_TRUE(run.player.wait_for(r));
  EXPECT_EQ(destroyed, 0) << "the next replay needs them";
  run.player.forget(*is);
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace tessera::schedule
