// What orders two uses of a block, and what is only the accident of who came first. Those who submit are tasks here, so
// that one thread plays all of them.
#include "core/validate/race_detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/block/table.hpp"
#include "core/task/flow.hpp"
#include "core/task/pool.hpp"
#include "core/task/recording.hpp"
#include "core/task/replay.hpp"

namespace tessera::validate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A program whose submissions are followed.
struct followed {
  followed() {
    work.name = "work";
    view.name = "view";
    view.special = [](void*) {};
  }
  block::record& array(const std::string& name, bool adopted = false, const void* at = nullptr) {
    block::record& b = table.create(element_type::f64, shape{4}, table.make_origin(name, {1}));
    if (adopted) is.adopted_at(b, at);
    block::record* const all[] = {&b};
    is.made(all, adopted, std::source_location::current());
    return b;
  }
  /// A submission by the program, or by a task.
  task::record& submit(block::record& b, intent how, task_note* in = nullptr) {
    task::record& t = pool.take();
    t.operation = &work;
    t.site = std::source_location::current();
    t.access_count = 1;
    t.accesses[0] = {.block = &b, .version = 0, .intent = how, .flags = 0, .space = 0};
    alive = is.submitted(t, in);
    if (makes_version(how)) b.flow.make_version();
    return t;
  }
  /// A task of the program that has started, and submits others.
  task_note* running(block::record& b, intent how = intent::read) {
    notes.push_back(is.started(submit(b, how)));
    return notes.back().get();
  }
  std::vector<fault> faults() {
    std::vector<fault> all;
    for (const finding& f : findings.all()) all.push_back(f.fault);
    return all;
  }

  block::table table;
  task::pool pool{0};
  operation::definition work, view;
  journal findings;
  race_detector is{findings};
  std::vector<std::shared_ptr<task_note>> notes;
  bool alive = true;
};

TEST(race_detector, uses_of_one_submitter_are_in_its_order) {
  followed f;
  block::record& b = f.array("A");
  for (const intent how : {intent::write, intent::read, intent::update, intent::accumulate, intent::scratch}) {
    f.submit(b, how);
    EXPECT_TRUE(f.alive);
  }
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, of_two_tasks_that_submit_conflicting_uses_nothing_says_who_comes_first) {
  struct conflict {
    intent first, second;
    bool conflicting;
  };
  for (const conflict& one :
       {conflict{intent::write, intent::read, true}, conflict{intent::read, intent::write, true},
        conflict{intent::write, intent::write, true}, conflict{intent::update, intent::accumulate, true},
        conflict{intent::accumulate, intent::read, true}, conflict{intent::scratch, intent::read, true},
        conflict{intent::read, intent::scratch, true}, conflict{intent::read, intent::read, false},
        conflict{intent::commute, intent::commute, false}, conflict{intent::commute, intent::update, true},
        conflict{intent::update, intent::commute, true}, conflict{intent::commute, intent::accumulate, true},
        conflict{intent::accumulate, intent::commute, true}, conflict{intent::commute, intent::read, true},
        conflict{intent::accumulate, intent::accumulate, false}, conflict{intent::scratch, intent::scratch, false}}) {
    followed f;
    block::record &b = f.array("A"), &other = f.array("B");
    task_note *const first = f.running(other), *const second = f.running(other);
    f.submit(b, one.first, first);
    f.submit(b, one.second, second);
    EXPECT_EQ(f.faults(), one.conflicting ? std::vector<fault>{fault::unordered} : std::vector<fault>{})
        << name_of(one.first) << ", " << name_of(one.second);
  }
}

TEST(race_detector, tells_both_places_and_both_intents) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  task_note *const first = f.running(other), *const second = f.running(other);
  f.submit(b, intent::write, first);
  f.submit(b, intent::update, second);
  const auto all = f.findings.all();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].text, HasSubstr("A(0) is used by two threads or tasks with the intents write and update"));
  EXPECT_EQ(all[0].here.use, "A(0) update, version 2");
  EXPECT_EQ(all[0].there.use, "A(0) write, version 1");
  EXPECT_EQ(all[0].here.description, "task 'work' submitted");
}

TEST(race_detector, a_task_knows_what_its_submitter_had_done_before) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  f.submit(b, intent::write);
  f.submit(b, intent::read, f.running(other));
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, a_task_does_not_know_what_its_submitter_did_afterwards) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  task_note* const child = f.running(other);
  f.submit(b, intent::write);
  f.submit(b, intent::read, child);
  EXPECT_EQ(f.faults(), std::vector<fault>{fault::unordered});
}

TEST(race_detector, a_task_knows_what_the_tasks_that_it_waited_for_knew_and_did) {
  followed f;
  block::record &b = f.array("A"), &link = f.array("link"), &other = f.array("B");
  task_note* const maker = f.running(link, intent::write);
  f.submit(b, intent::write, maker);  // inside of it
  task_note* const user = f.running(link, intent::read);
  f.submit(b, intent::read, user);
  EXPECT_THAT(f.findings.all(), IsEmpty());
  f.submit(b, intent::update, f.running(other));
  ASSERT_EQ(f.faults(), std::vector<fault>{fault::unordered});
  EXPECT_EQ(f.findings.all()[0].times, 2u) << "a third one waited for neither: not for the writer, nor for the reader";
}

TEST(race_detector, a_fence_orders_everything_before_it) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  f.submit(b, intent::write, f.running(other));
  f.is.fenced(std::source_location::current());
  f.submit(b, intent::read);
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, an_order_point_orders_those_who_pass_it) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  task_note *const first = f.running(other), *const second = f.running(other), *const third = f.running(other);
  class clock point;
  f.submit(b, intent::write, first);
  f.is.before(point, first);
  f.is.after(point, second);
  f.submit(b, intent::read, second);
  EXPECT_THAT(f.findings.all(), IsEmpty());
  f.submit(b, intent::read, third);
  EXPECT_EQ(f.faults(), std::vector<fault>{fault::unordered}) << "who has not passed it knows nothing";
}

TEST(race_detector, what_came_after_an_order_point_is_not_ordered_by_it) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  task_note *const first = f.running(other), *const second = f.running(other);
  class clock point;
  f.is.before(point, first);
  f.submit(b, intent::write, first);
  f.is.after(point, second);
  f.submit(b, intent::read, second);
  EXPECT_EQ(f.faults(), std::vector<fault>{fault::unordered});
}

TEST(race_detector, a_view_tells_what_the_maker_of_its_contents_knew) {
  followed f;
  block::record &b = f.array("A"), &other = f.array("B");
  task_note* const maker = f.running(b, intent::write);
  f.submit(other, intent::write, maker);
  task::record& asked = f.pool.take();
  asked.operation = &f.view;
  asked.access_count = 1;
  asked.accesses[0] = {.block = &b, .version = 0, .intent = intent::read, .flags = 0, .space = 0};
  ASSERT_TRUE(f.is.submitted(asked, nullptr));
  const auto note = f.is.started(asked);
  f.is.view_granted(*note, b, nullptr);
  f.submit(other, intent::read);
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, a_block_whose_array_is_gone_is_not_used_again) {
  followed f;
  block::record& b = f.array("A");
  f.submit(b, intent::write);
  EXPECT_TRUE(f.is.destroyed(b, nullptr));
  f.submit(b, intent::read);
  EXPECT_FALSE(f.alive) << "the task must not run";
  EXPECT_EQ(f.faults(), std::vector<fault>{fault::after_free});
  EXPECT_THAT(f.findings.all()[0].text, HasSubstr("block 0 of array A is used, and the array is destroyed"));
  EXPECT_TRUE(f.is.tell_when_gone(b, "view taken", std::source_location::current(), intent::read, false));
}

TEST(race_detector, an_array_that_is_there_is_told_of_nobody) {
  followed f;
  block::record &b = f.array("A"), &hidden = f.table.create(element_type::f64, shape{4});
  for (block::record* const one : {&b, &hidden})
    EXPECT_FALSE(f.is.tell_when_gone(*one, "view taken", std::source_location::current(), intent::read, false));
  EXPECT_TRUE(f.is.destroyed(hidden, nullptr)) << "the runtime's own";
}

TEST(race_detector, a_block_ends_once) {
  followed f;
  block::record& b = f.array("A");
  EXPECT_TRUE(f.is.destroyed(b, nullptr));
  EXPECT_FALSE(f.is.destroyed(b, nullptr));
  ASSERT_EQ(f.faults(), std::vector<fault>{fault::after_free});
  EXPECT_EQ(f.findings.all()[0].text, "a block of array A is destroyed twice");
}

TEST(race_detector, a_record_that_is_used_again_is_another_block) {
  followed f;
  block::record& b = f.array("A");
  f.submit(b, intent::write);
  EXPECT_TRUE(f.is.destroyed(b, nullptr));
  f.is.forget(b);
  f.table.destroy(b);
  block::record& again = f.array("B");
  ASSERT_EQ(&again, &b) << "or this test shows nothing";
  f.submit(again, intent::read);
  EXPECT_TRUE(f.alive);
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, the_private_copies_of_a_recording_are_no_array_that_is_gone) {
  followed f;
  std::vector<block::record*> gone;
  for (int k = 0; k < 8; ++k) gone.push_back(&f.array("A" + std::to_string(k)));
  block::record& sum = f.array("sum");
  for (block::record* const b : gone) {
    EXPECT_TRUE(f.is.destroyed(*b, nullptr));
    f.is.forget(*b);
    f.table.destroy(*b);
  }
  task::graph_recorder taker(f.table, f.work, f.work);
  task::record& t = f.pool.take();
  t.operation = &f.work;
  t.access_count = 1;
  t.accesses[0] = {.block = &sum, .version = 0, .intent = intent::accumulate, .flags = 0, .space = 0};
  (void)taker.add(t);
  const auto recorded = taker.finish();
  ASSERT_FALSE(recorded->private_blocks().empty());
  const task::replay replay(*recorded);
  EXPECT_TRUE(f.is.replayed(replay, nullptr, std::source_location::current()));
  EXPECT_THAT(f.findings.all(), IsEmpty()) << to_text(f.findings.all());
}

TEST(race_detector, a_recording_whose_array_is_gone_is_not_replayed) {
  followed f;
  block::record& b = f.array("A");
  task::graph_recorder taker(f.table, f.work, f.work);
  task::record& t = f.pool.take();
  t.operation = &f.work;
  t.access_count = 1;
  t.accesses[0] = {.block = &b, .version = 0, .intent = intent::update, .flags = 0, .space = 0};
  (void)taker.add(t);
  const auto recorded = taker.finish();
  const task::replay replay(*recorded);
  EXPECT_TRUE(f.is.replayed(replay, nullptr, std::source_location::current()));
  EXPECT_TRUE(f.is.destroyed(b, nullptr));
  EXPECT_FALSE(f.is.replayed(replay, nullptr, std::source_location::current()));
  EXPECT_EQ(f.faults(), std::vector<fault>{fault::after_free});
}

TEST(race_detector, arrays_that_cover_the_same_memory_do_not_wait_for_each_other) {
  double memory[8] = {};
  followed f;
  block::record &a = f.array("A", true, memory), &b = f.array("B", true, memory + 2),
                &c = f.array("C", true, memory + 6);
  f.submit(a, intent::write);
  f.submit(b, intent::read);
  ASSERT_EQ(f.faults(), std::vector<fault>{fault::overlap});
  EXPECT_THAT(f.findings.all()[0].text, HasSubstr("B(0) and A(0) are the same memory"));
  f.submit(c, intent::read);
  EXPECT_EQ(f.findings.all().size(), 1u) << "it reads beside B, which reads too";
}

TEST(race_detector, arrays_that_touch_are_no_overlap) {
  double memory[8] = {};
  followed f;
  block::record &a = f.array("A", true, memory), &b = f.array("B", true, memory + 4);
  f.submit(a, intent::write);
  f.submit(b, intent::write);
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, after_a_fence_the_same_memory_may_be_used_under_another_name) {
  double memory[4] = {};
  followed f;
  block::record &a = f.array("A", true, memory), &b = f.array("B", true, memory);
  f.submit(a, intent::write);
  f.is.fenced(std::source_location::current());
  f.submit(b, intent::write);
  EXPECT_THAT(f.findings.all(), IsEmpty());
}

TEST(race_detector, arrays_that_are_left_at_the_end_are_told) {
  followed f;
  block::record& gone = f.array("gone");
  (void)f.array("left");
  EXPECT_TRUE(f.is.destroyed(gone, nullptr));
  f.is.end();
  ASSERT_EQ(f.faults(), std::vector<fault>{fault::outlives});
  EXPECT_EQ(f.findings.all()[0].text, "array left is still there while its runtime is destroyed");
}

}  // namespace
}  // namespace tessera::validate
