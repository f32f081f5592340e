// The tasks that the runtime submits for itself, and what they wait for.
#include "core/schedule/runtime_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/schedule/retiler.hpp"
#include "tests/unit/schedule/played_run.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(runtime_operations, are_in_the_catalog_and_told_apart) {
  operation::catalog catalog;
  const runtime_operations own(catalog);
  for (const char* const name : {"view", "destroy", "bring_home", "retile", "reduce"})
    EXPECT_NE(catalog.find(name), nullptr) << name;
  task::record t;
  struct expected {
    const operation::definition* what;
    bool view, destroy, bring_home, retile, housekeeping;
  };
  for (const expected& one :
       {expected{&own.view, true, false, false, false, false}, expected{&own.destroy, false, true, false, false, true},
        expected{&own.bring_home, false, false, true, false, true},
        expected{&own.retile, false, false, false, true, true},
        expected{&own.reduce, false, false, false, false, false}}) {
    t.operation = one.what;
    EXPECT_EQ(own.is_view(t), one.view) << one.what->name;
    EXPECT_EQ(own.is_destroy(t), one.destroy) << one.what->name;
    EXPECT_EQ(own.is_bring_home(t), one.bring_home) << one.what->name;
    EXPECT_EQ(own.is_retile(t), one.retile) << one.what->name;
    EXPECT_EQ(own.is_housekeeping(t), one.housekeeping) << one.what->name;
  }
}

TEST(runtime_operations, take_a_reduce_that_is_there_already) {
  operation::catalog catalog;
  const operation::definition& reduce = catalog.add({.name = "reduce", .host = [](const operation::context&) {}});
  const runtime_operations own(catalog);
  EXPECT_EQ(&own.reduce, &reduce);
}

TEST(runtime_tasks, a_block_ends_behind_the_tasks_that_use_it) {
  played_run run;
  const operation::definition work{.name = "work", .host = [](const operation::context&) {}};
  block::record& b = run.machine.make();
  run.submit(work, {{&b, intent::write}});
  run.destroy_later(b);
  EXPECT_EQ(run.ready.size(), 1u) << "the end waits for the writer";
  EXPECT_EQ(run.machine.table.size(), 1u);
  run.finish();
  EXPECT_THAT(run.take(), ElementsAre("work"));
  EXPECT_EQ(run.machine.table.size(), 0u);
  EXPECT_EQ(run.threads.submitted(), run.threads.retired());
  EXPECT_EQ(run.machine.spaces[0]->used(), 0u) << "its memory is free";
}

TEST(runtime_tasks, a_block_whose_copy_is_under_way_ends_when_that_is_through) {
  played_run run({"alpha"});
  block::record& b = run.machine.make();
  run.machine.put(b, 0, 4);
  std::vector<block::access> there{transfer::rig::use(b, intent::read)};
  ASSERT_EQ(run.machine.acquire(there, 1).outcome, transfer::outcome::ready);
  run.machine.done(there);  // the copy itself has not moved yet
  run.destroy_later(b);
  while (run.step()) {
  }
  EXPECT_EQ(run.machine.table.size(), 1u) << "the copy still reads it";
  EXPECT_THAT(run.take(), ElementsAre("destroy waits"));
  EXPECT_EQ(run.aside.waiting_for_points(), 1u);
  run.finish();
  EXPECT_EQ(run.machine.table.size(), 0u);
}

TEST(runtime_tasks, an_adopted_block_ends_with_its_last_version_at_home) {
  played_run run({"alpha"});
  std::vector<std::int64_t> own(transfer::block_bytes / 8, 7);
  block::record& b = run.machine.make();
  block::record* const all[] = {&b};
  run.machine.is->adopted().adopt(all, own.data(), 0);
  run.machine.put(b, 1, 9);
  run.write_back.end(b);
  run.destroy_later(b);
  while (run.step()) {
  }
  EXPECT_EQ(own[0], 7) << "the copy has not moved yet";
  run.finish();
  EXPECT_EQ(own, std::vector<std::int64_t>(own.size(), 9));
  EXPECT_EQ(run.machine.table.size(), 0u);
}

TEST(runtime_tasks, a_cancelled_run_does_not_wait_for_the_last_version) {
  played_run run({"alpha"});
  std::vector<std::int64_t> own(transfer::block_bytes / 8, 7);
  block::record& b = run.machine.make();
  block::record* const all[] = {&b};
  run.machine.is->adopted().adopt(all, own.data(), 0);
  run.machine.put(b, 1, 9);
  run.failed.cancel("enough", error_kind::interrupted);
  run.write_back.end(b);
  run.destroy_later(b);
  run.finish();
  EXPECT_EQ(own[0], 7);
  EXPECT_EQ(run.machine.table.size(), 0u);
}

TEST(runtime_tasks, a_read_at_home_is_counted_off_when_it_has_come) {
  played_run run({"alpha"});
  std::vector<std::int64_t> own(transfer::block_bytes / 8, 7);
  block::record& b = run.machine.make();
  block::record* const all[] = {&b};
  run.machine.is->adopted().adopt(all, own.data(), 0);
  run.machine.put(b, 1, 9);
  const auto begin = [&] {
    return run.write_back.begin({}, [&](block::record& stale) {
      run.submit(run.operations.bring_home, {{&stale, intent::read}});
    });
  };
  EXPECT_TRUE(begin());
  EXPECT_TRUE(begin()) << "it is on its way";
  run.finish();
  EXPECT_FALSE(begin());
  EXPECT_EQ(own[0], 9);
  EXPECT_EQ(run.threads.submitted(), 1u) << "one read was enough";
  run.destroy_later(b);
}

TEST(retiler, new_blocks_wait_for_the_users_of_the_old_ones) {
  played_run run;
  retiler tiles(run, run.operations);
  const operation::definition reads{.name = "reads", .host = [](const operation::context&) {}},
      writes{.name = "writes", .host = [](const operation::context&) {}};
  block::record &old = run.machine.make(), &fresh = run.machine.make();
  run.submit(writes, {{&old, intent::write}});
  run.submit(reads, {{&old, intent::read}});
  block::record *const from[] = {&old}, *const to[] = {&fresh};
  const retiling part{from, to};
  tiles.submit({&part, 1}, std::source_location::current());
  run.submit(writes, {{&fresh, intent::update}});
  EXPECT_EQ(run.ready.size(), 1u) << "all wait for the first";
  run.finish();
  EXPECT_THAT(run.take(), ElementsAre("writes", "reads", "writes"));
  EXPECT_EQ(run.threads.submitted(), 4u);
  EXPECT_EQ(run.threads.retired(), 4u);
}

TEST(retiler, new_blocks_have_contents_where_the_old_ones_have) {
  played_run run;
  retiler tiles(run, run.operations);
  const operation::definition writes{.name = "writes", .host = [](const operation::context&) {}};
  block::record &empty = run.machine.make(), &written = run.machine.make(), &of_none = run.machine.make(),
                &of_both = run.machine.make();
  run.submit(writes, {{&written, intent::write}});
  const auto retile = [&](std::vector<block::record*> from, block::record& fresh) {
    block::record* const to[] = {&fresh};
    const retiling part{from, to};
    tiles.submit({&part, 1}, std::source_location::current());
    run.finish();
  };
  retile({&empty}, of_none);
  EXPECT_TRUE(of_none.valid_spaces.empty());
  EXPECT_EQ(of_none.poison, nullptr);
  retile({&of_none, &written}, of_both);
  EXPECT_TRUE(of_both.valid_in(0));
  EXPECT_EQ(run.threads.submitted(), run.threads.retired());
}

TEST(retiler, takes_as_many_blocks_as_there_are_and_a_task_for_each_part) {
  played_run run;
  retiler tiles(run, run.operations);
  std::vector<block::record*> from, to;
  for (int k = 0; k < 7; ++k) from.push_back(&run.machine.make());
  for (int k = 0; k < 3; ++k) to.push_back(&run.machine.make());
  const operation::definition writes{.name = "writes", .host = [](const operation::context&) {}};
  for (block::record* const b : from) run.submit(writes, {{b, intent::write}});
  const std::vector<retiling> parts{{from, to}, {{from.data(), 1}, {to.data(), 1}}};
  tiles.submit(parts, std::source_location::current());
  ASSERT_EQ(run.threads.submitted(), 7u + 2);
  run.finish();
  EXPECT_EQ(run.threads.retired(), 7u + 2);
  for (block::record* const b : to) EXPECT_NE(b->committed, 0u) << "its first version is the memory of the old ones";
}

TEST(retiler, in_a_recording_nothing_is_submitted) {
  played_run run;
  retiler tiles(run, run.operations);
  task::graph_recorder taker(run.machine.table, run.operations.reduce, run.operations.combine);
  run.mine.recorder = &taker;
  block::record *const from[] = {&run.machine.make()}, *const to[] = {&run.machine.make()};
  const retiling part{from, to};
  tiles.record({&part, 1}, std::source_location::current());
  run.mine.recorder = nullptr;
  EXPECT_EQ(run.threads.submitted(), 0u);
  const std::unique_ptr<task::recording> made = taker.finish();
  ASSERT_EQ(made->size(), 1u);
  const auto uses = made->accesses_of(made->tasks[0]);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(static_cast<intent>(uses[0].intent), intent::update) << "not as a reader: later writers wait for readers";
  EXPECT_EQ(static_cast<intent>(uses[1].intent), intent::write);
}

}  // namespace
}  // namespace tessera::schedule
