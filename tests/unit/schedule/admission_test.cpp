// How many tasks a device has at the same time, on which stream each goes, and the workspace that it gets.
#include "core/schedule/device/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/schedule/device/compute_streams.hpp"
#include "core/schedule/device/workspace.hpp"
#include "core/task/flow.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(admission, takes_fresh_tasks_up_to_its_depth_whether_they_are_enqueued_or_await_copies) {
  admission a(3);
  EXPECT_EQ(a.depth(), 3u);
  a.begin_launch();
  a.begin_await(1, 2);
  EXPECT_TRUE(a.takes_fresh());
  a.begin_launch();
  EXPECT_FALSE(a.takes_fresh());
  EXPECT_FALSE(a.full()) << "one that has its blocks may still be enqueued";
  EXPECT_EQ(a.under_way(), 3u);
  a.end_launch();
  EXPECT_TRUE(a.takes_fresh());
}

TEST(admission, is_full_with_as_many_launches_as_it_is_deep) {
  admission a(2);
  a.begin_launch();
  EXPECT_FALSE(a.full());
  a.begin_launch();
  EXPECT_TRUE(a.full());
  a.end_launch();
  EXPECT_FALSE(a.full());
  EXPECT_TRUE(admission(0).full()) << "a device that only stores runs nothing";
}

TEST(admission, of_short_tasks_that_go_together_a_batch_for_each_stream_may_await) {
  admission a(4);
  for (int k = 0; k < 19; ++k) {
    a.begin_await(10, 2);
    EXPECT_TRUE(a.takes_fresh()) << k;
  }
  a.begin_await(10, 2);
  EXPECT_FALSE(a.takes_fresh()) << "twenty are enough";
  a.begin_await(1, 2);
  EXPECT_FALSE(a.takes_fresh()) << "the last that awaits goes alone: its kind counts";
}

TEST(admission, tasks_whose_copies_have_come_are_known_until_they_are_taken) {
  admission a(4);
  a.begin_await(1, 1);
  EXPECT_FALSE(a.any_resumed());
  a.note_resumed();
  EXPECT_TRUE(a.any_resumed());
  EXPECT_EQ(a.awaiting(), 1u);
  a.end_await();
  EXPECT_FALSE(a.any_resumed());
  EXPECT_EQ(a.awaiting(), 0u);
}

TEST(admission, tasks_of_a_lost_device_are_put_back_as_if_their_copies_had_come) {
  admission a(4);
  a.put_back(2);
  EXPECT_EQ(a.awaiting(), 2u);
  EXPECT_TRUE(a.any_resumed());
  a.end_await();
  EXPECT_TRUE(a.any_resumed());
  a.end_await();
  EXPECT_EQ(a.under_way(), 0u);
  EXPECT_FALSE(a.any_resumed());
}

/// Three streams of a device that moves when it is told to.
struct dealt_streams {
  explicit dealt_streams(bool in_turn = false) : is(make(), in_turn) {}
  std::vector<transfer::stream*> make() {
    std::vector<transfer::stream*> all;
    for (int k = 0; k < 3; ++k)
      all.push_back(&machine.streams.create(machine.devices[1]->device(), TSR_STREAM_COMPUTE));
    return all;
  }
  /// The streams of the next tasks, each of which stays.
  std::vector<std::size_t> deal(int tasks) {
    std::vector<std::size_t> to;
    for (int k = 0; k < tasks; ++k) {
      to.push_back(is.next());
      is.begin(to.back(), 1);
    }
    return to;
  }
  transfer::rig machine{{"alpha"}};
  compute_streams is;
};

TEST(compute_streams, are_dealt_in_turn_while_all_have_the_same) {
  dealt_streams d;
  EXPECT_THAT(d.deal(6), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(compute_streams, the_one_with_the_fewest_tasks_is_next) {
  dealt_streams d;
  d.is.begin(0, 5);
  d.is.begin(1, 1);
  EXPECT_THAT(d.deal(1), ElementsAre(2));
  d.is.begin(2, 5);
  EXPECT_THAT(d.deal(1), ElementsAre(1)) << "whose turn it is also";
  d.is.end(0, 5);
  EXPECT_THAT(d.deal(2), ElementsAre(0, 0)) << "also when it is another one's turn";
  EXPECT_EQ(d.is.tasks_on(0), 2u);
}

TEST(compute_streams, of_a_virtual_clock_are_dealt_in_turn_whatever_is_on_them) {
  dealt_streams d(true);
  d.is.begin(0, 100);
  EXPECT_THAT(d.deal(4), ElementsAre(0, 1, 2, 0));
}

TEST(compute_streams, know_their_numbers_and_whether_any_works) {
  dealt_streams d;
  EXPECT_EQ(d.is.count(), 3u);
  for (const transfer::stream* const s : d.is.all()) EXPECT_TRUE(d.is.has(s->number()));
  EXPECT_FALSE(d.is.has(d.machine.is->copies_of(1).in->number()));
  EXPECT_FALSE(d.is.busy());
  {
    const std::lock_guard guard(d.is[1].enqueue_lock());
    (void)d.is[1].signal();
  }
  EXPECT_TRUE(d.is.busy());
  EXPECT_FALSE(d.is.poll()) << "nothing was reached";
  d.machine.settle();
  EXPECT_FALSE(d.is.busy());
}

/// Workspaces in the memory of a device of four blocks.
struct given_workspaces {
  given_workspaces() {
    wants.name = "wants";
    wants.workspace = [](const plugin::device&, const void*, std::span<const block::access> uses) -> std::uint64_t {
      return 2 * uses[0].block->bytes;
    };
    task::renew(t);
    t.operation = &wants;
    t.access_count = 2;
    for (std::size_t k = 0; k < 2; ++k) t.accesses[k] = transfer::rig::use(machine.make(), intent::read);
  }
  ~given_workspaces() { machine.end(); }
  std::uint64_t used() const { return machine.spaces[1]->used(); }

  transfer::rig machine{{"alpha"}, 4};
  operation::definition wants;
  task::record t;
  workspaces is{machine.devices[1]->device(), *machine.spaces[1]};
};

TEST(workspaces, are_taken_and_given_back_with_what_holds_them) {
  given_workspaces g;
  EXPECT_EQ(g.is.bytes_of(g.t), 2 * transfer::block_bytes);
  {
    task_workspace taken;
    EXPECT_TRUE(g.is.take(g.t, taken));
    EXPECT_EQ(g.used(), 2 * transfer::block_bytes);
    EXPECT_EQ(taken.for_call().bytes, 2 * transfer::block_bytes);
    task_workspace second, third;
    EXPECT_TRUE(g.is.take(g.t, second));
    EXPECT_FALSE(g.is.take(g.t, third)) << "the memory is full";
    EXPECT_EQ(third.for_call().bytes, 0u);
    taken.become(std::move(second));
    EXPECT_EQ(g.used(), 2 * transfer::block_bytes) << "what it was is given back";
  }
  EXPECT_EQ(g.used(), 0u);
}

TEST(workspaces, of_nothing_take_nothing) {
  given_workspaces g;
  g.wants.workspace = nullptr;
  task_workspace none;
  EXPECT_EQ(g.is.bytes_of(g.t), 0u);
  EXPECT_TRUE(g.is.take(g.t, none));
  EXPECT_EQ(none.from, nullptr);
  g.is.keep(g.t, std::move(none));
  EXPECT_EQ(g.is.kept(g.t), nullptr) << "there is nothing to keep";
}

TEST(workspaces, are_kept_for_their_task_until_it_asks) {
  given_workspaces g;
  task_workspace taken;
  ASSERT_TRUE(g.is.take(g.t, taken));
  g.is.keep(g.t, std::move(taken));
  EXPECT_EQ(taken.from, nullptr);
  task::record other;
  EXPECT_EQ(g.is.kept(other), nullptr);
  const auto back = g.is.kept(g.t);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->bytes, 2 * transfer::block_bytes);
  EXPECT_EQ(g.is.kept(g.t), nullptr) << "it was given once";
}

TEST(workspaces, wake_who_waits_for_memory_when_their_task_is_complete) {
  given_workspaces g;
  memory::waiters& room = g.machine.spaces[1]->waiters();
  task_workspace taken;
  ASSERT_TRUE(g.is.take(g.t, taken));
  const std::uint64_t before = room.events();
  taken.release();
  EXPECT_GT(room.events(), before);
  EXPECT_EQ(g.used(), 0u);
  taken.release();  // there is nothing left
  EXPECT_EQ(g.used(), 0u);
}

TEST(workspaces, that_never_fit_beside_the_blocks_are_known_before) {
  given_workspaces g;
  constexpr std::uint64_t unit = transfer::block_bytes;
  EXPECT_TRUE(g.is.fits(g.t, 2 * unit)) << "two blocks, and two beside them";
  EXPECT_FALSE(g.is.fits(g.t, 2 * unit + 1));
  g.t.accesses[1].block = g.t.accesses[0].block;
  EXPECT_TRUE(g.is.fits(g.t, 3 * unit)) << "one block that is named twice";
  const block::failure why = g.is.why_never(g.t, 4 * unit);
  EXPECT_EQ(why.kind, error_kind::memory);
  EXPECT_THAT(why.text, HasSubstr("its blocks and a workspace of 1 KiB need more than alpha1"));
}

}  // namespace
}  // namespace tessera::schedule
