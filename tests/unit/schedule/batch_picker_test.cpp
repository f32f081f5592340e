// Which ready tasks go to a device as one launch: a queue in, tasks out, no device and no thread.
#include "core/schedule/device/batch_picker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/task/flow.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct queued {
  queued() : rig({"alpha"}, 64) {
    short_one.name = "short";
    short_one.batch.enqueue = [](std::span<const operation::context>) { return true; };
    other.name = "other";
  }
  ~queued() { rig.end(); }

  task::record& add(const operation::definition& what, std::int8_t priority = 0, std::int64_t argument = 0) {
    tasks.push_back(std::make_unique<task::record>());
    task::record& t = *tasks.back();
    task::renew(t);
    t.operation = &what;
    t.priority = priority;
    t.sequence = tasks.size();
    t.argument_size = sizeof argument;
    std::memcpy(t.argument_bytes(), &argument, sizeof argument);
    t.access_count = 1;
    t.accesses[0] = transfer::rig::use(rig.make(), intent::update);
    return t;
  }
  task::record& push(const operation::definition& what, std::int8_t priority = 0, std::int64_t argument = 0) {
    task::record& t = add(what, priority, argument);
    queue.push(t);
    return t;
  }
  batch_picker picker(std::size_t most = 64) {
    return {rig.devices[1]->device(), queue, {.tasks = most, .memory = std::uint64_t{1} << 30, .streams = 1}};
  }
  static bool stay(task::record&) { return false; }

  transfer::rig rig;
  task::priority_queue queue;
  operation::definition short_one, other;
  std::vector<std::unique_ptr<task::record>> tasks;
};

TEST(batch_picker, takes_what_differs_in_its_blocks_alone) {
  queued q;
  task::record& first = q.add(q.short_one);
  task::record& same = q.push(q.short_one);
  task::record& argued = q.push(q.short_one, 0, 5);
  task::record& foreign = q.push(q.other);
  task::record& last = q.push(q.short_one);
  batch_picker p = q.picker();
  EXPECT_GT(p.most_like(first), 1u);
  p.pick(first, queued::stay);
  EXPECT_THAT(p.others(), ElementsAre(&same, &last));
  EXPECT_EQ(q.queue.pop(), &argued) << "what was skipped is in the queue again, in its order";
  EXPECT_EQ(q.queue.pop(), &foreign);
  p.put_back(1);
  EXPECT_THAT(p.others(), ElementsAre(&same));
  EXPECT_EQ(q.queue.pop(), &last);
}

TEST(batch_picker, looks_at_few_and_at_more_when_they_were_of_use) {
  queued q;
  task::record& first = q.add(q.short_one);
  for (int k = 0; k < 20; ++k) q.push(q.short_one);
  batch_picker p = q.picker();
  p.pick(first, queued::stay);
  ASSERT_EQ(p.others().size(), 4u);
  p.use(4);
  EXPECT_THAT(p.others(), IsEmpty());
  p.pick(first, queued::stay);
  ASSERT_EQ(p.others().size(), 8u);
  p.use(2);  // the third could not have its blocks
  EXPECT_EQ(p.others().size(), 6u);
  p.put_back(0);
  p.pick(first, queued::stay);
  EXPECT_EQ(p.others().size(), 3u);
}

TEST(batch_picker, after_one_that_was_of_no_use_one_task_goes_alone) {
  queued q;
  task::record& first = q.add(q.short_one);
  q.push(q.short_one);
  batch_picker p = q.picker();
  p.skip_once();
  p.pick(first, queued::stay);
  EXPECT_THAT(p.others(), IsEmpty());
  p.pick(first, queued::stay);
  EXPECT_EQ(p.others().size(), 1u);
}

TEST(batch_picker, tasks_that_go_elsewhere_are_gone) {
  queued q;
  task::record& first = q.add(q.short_one);
  task::record& moved = q.push(q.short_one);
  task::record& stays = q.push(q.short_one);
  batch_picker p = q.picker();
  p.pick(first, [&](task::record& t) { return &t == &moved; });
  EXPECT_THAT(p.others(), ElementsAre(&stays));
  EXPECT_TRUE(q.queue.empty());
}

TEST(batch_picker, with_one_that_has_its_blocks_go_others_that_have_theirs) {
  queued q;
  const auto resumed = [&](task::record& t) -> task::record& {
    t.flags |= task::flag_acquired;
    return t;
  };
  task::record& first = resumed(q.add(q.short_one));
  task::record& fresh = q.push(q.short_one);
  task::record& one = resumed(q.add(q.short_one));
  task::record& foreign = resumed(q.add(q.other));
  task::record& two = resumed(q.add(q.short_one));
  for (task::record* const t : {&two, &foreign, &one}) q.queue.push(*t);
  batch_picker p = q.picker();
  p.pick_acquired(first);
  EXPECT_THAT(p.others(), ElementsAre(&one, &two));
  p.use(2);
  EXPECT_EQ(q.queue.pop_acquired(), &foreign);
  EXPECT_EQ(q.queue.pop_acquired(), nullptr);
  EXPECT_EQ(q.queue.pop(), &fresh);
}

TEST(batch_picker, no_task_of_another_priority_is_passed_by) {
  queued q;
  task::record& first = q.add(q.short_one, 1);
  task::record& urgent = q.push(q.other, 1);
  task::record& low = q.push(q.other, 0);
  task::record& behind = q.push(q.short_one, 0);
  batch_picker p = q.picker();
  p.pick(first, queued::stay);
  EXPECT_THAT(p.others(), IsEmpty());
  EXPECT_EQ(q.queue.pop(), &urgent);
  EXPECT_EQ(q.queue.pop(), &low);
  EXPECT_EQ(q.queue.pop(), &behind);
}

TEST(batch_picker, nothing_goes_with_a_task_that_has_no_form_for_batches_or_where_there_are_none) {
  queued q;
  task::record& plain = q.add(q.other);
  task::record& first = q.add(q.short_one);
  q.push(q.short_one);
  q.push(q.other);
  batch_picker p = q.picker();
  p.pick(plain, queued::stay);
  EXPECT_THAT(p.others(), IsEmpty());
  EXPECT_EQ(p.most_like(plain), 1u);
  batch_picker none = q.picker(1);
  none.pick(first, queued::stay);
  EXPECT_THAT(none.others(), IsEmpty());
  EXPECT_EQ(none.most_like(first), 1u);
  first.flags |= task::flag_accumulates;  // its block is a private copy
  EXPECT_EQ(p.most_like(first), 1u);
  p.pick(first, queued::stay);
  EXPECT_THAT(p.others(), IsEmpty());
  EXPECT_EQ(q.queue.size(), 2u);
}

}  // namespace
}  // namespace tessera::schedule
