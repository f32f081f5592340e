// A device that leaves, step by step: what it holds goes to the memory above it, or it stays and says why.
#include "core/schedule/device/departure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/unit/schedule/driven.hpp"

namespace tessera::schedule {
namespace {

using ::testing::HasSubstr;

/// A device that is about to leave, and a host of so many blocks (0: no limit).
struct leaving_device {
  explicit leaving_device(std::uint64_t host_blocks = 0) : machine({"alpha"}, 4, false, 4 * 4096, host_blocks) {
    where.name = "alpha1";
    where.space = 1;
    where.is_host = false;
    where.device = &machine.devices[1]->device();
  }
  ~leaving_device() { machine.end(); }
  void begin() {
    departure.begin();
    where.state = placement::place_state::draining;
  }
  /// Steps until the place's state is another one; false: it waits, or never ends.
  bool leaves(int steps = 200) {
    for (int k = 0; k < steps && where.state == placement::place_state::draining; ++k) {
      const int before = looks;
      const bool goes_on = departure.empty_memory();
      machine.settle();
      if (!goes_on && looks == before) return false;
    }
    return where.state != placement::place_state::draining;
  }

  transfer::rig machine;
  placement::place where;
  notebook owner;
  int looks = 0;
  device_departure departure{
      {.owner = &owner, .coherence = machine.is.get(), .where = &where, .look_again = [this] { ++looks; }}};
};

TEST(departure, of_a_device_that_holds_nothing_is_one_step) {
  leaving_device d;
  d.begin();
  EXPECT_TRUE(d.departure.empty_memory());
  EXPECT_EQ(d.where.state, placement::place_state::detached);
  EXPECT_EQ(d.owner.changes, 1) << "who asked for it is told";
  EXPECT_EQ(d.departure.take_refusal(), nullptr);
  EXPECT_FALSE(d.departure.blocked_on_parent_memory());
}

TEST(departure, takes_what_only_the_device_has_to_the_memory_above) {
  leaving_device d;
  block::record &only = d.machine.make(), &copied = d.machine.make();
  d.machine.put(only, 1, 5);
  d.machine.put(copied, 1, 6);
  (void)d.machine.get(copied, 0);
  const std::uint64_t before = d.machine.copies(1, 0);
  d.begin();
  EXPECT_TRUE(d.leaves());
  EXPECT_EQ(d.where.state, placement::place_state::detached);
  EXPECT_EQ(d.machine.spaces[1]->used(), 0u);
  EXPECT_EQ(d.machine.copies(1, 0), before + 1) << "what is elsewhere too is dropped";
  EXPECT_EQ(d.machine.get(only, 0), 5);
  EXPECT_EQ(d.machine.get(copied, 0), 6);
  EXPECT_EQ(d.machine.devices[1]->state().used, 0u) << "the plugin has its memory back";
}

TEST(departure, waits_for_what_is_pinned_and_looks_again_when_that_has_ended) {
  leaving_device d;
  block::record& b = d.machine.make();
  d.machine.put(b, 1, 5);
  std::vector<block::access> user{transfer::rig::use(b, intent::read)};
  ASSERT_EQ(d.machine.acquire(user, 1).outcome, transfer::outcome::ready);
  d.begin();
  EXPECT_FALSE(d.leaves());
  EXPECT_EQ(d.where.state, placement::place_state::draining);
  EXPECT_FALSE(d.departure.blocked_on_parent_memory()) << "there is room above";
  EXPECT_EQ(d.looks, 0);
  d.machine.done(user);
  d.machine.spaces[1]->waiters().notify();
  EXPECT_GE(d.looks, 1);
  EXPECT_TRUE(d.leaves());
  EXPECT_EQ(d.where.state, placement::place_state::detached);
}

TEST(departure, without_room_above_says_so_and_goes_on_when_there_is_some) {
  leaving_device d(1);
  block::record &above = d.machine.make(), &only = d.machine.make();
  d.machine.put(only, 1, 5);
  d.machine.put(above, 0, 4);
  d.begin();
  ASSERT_FALSE(d.leaves());
  EXPECT_TRUE(d.departure.blocked_on_parent_memory());
  EXPECT_EQ(d.owner.changes, 1);
  EXPECT_FALSE(d.leaves());
  EXPECT_EQ(d.owner.changes, 1) << "it is said once";
  std::vector<block::ticket> waits;
  ASSERT_TRUE(d.machine.is->try_drop(above, waits));
  d.machine.spaces[0]->waiters().notify();
  EXPECT_GE(d.looks, 1);
  EXPECT_TRUE(d.leaves());
  EXPECT_EQ(d.where.state, placement::place_state::detached);
  EXPECT_FALSE(d.departure.blocked_on_parent_memory());
}

TEST(departure, is_refused_when_nothing_can_make_room_and_the_device_stays_as_it_was) {
  leaving_device d(1);
  block::record &above = d.machine.make(), &only = d.machine.make();
  d.machine.put(only, 1, 5);
  d.machine.put(above, 0, 4);
  d.begin();
  ASSERT_FALSE(d.leaves());
  memory::memory_waiter* const waits = d.machine.spaces[0]->waiters().take_oldest();
  ASSERT_NE(waits, nullptr);
  ASSERT_NE(waits->refuse, nullptr) << "it is no task";
  waits->refuse(waits);
  EXPECT_EQ(d.looks, 1);
  EXPECT_TRUE(d.departure.empty_memory()) << "the last try";
  EXPECT_EQ(d.where.state, placement::place_state::attached);
  const std::unique_ptr<error> why = d.departure.take_refusal();
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->kind(), error_kind::memory);
  EXPECT_THAT(why->message(), HasSubstr("alpha1 cannot be detached: 256 B that only it holds"));
  EXPECT_THAT(why->message(), HasSubstr(block::name_of(only)));
  EXPECT_EQ(d.departure.take_refusal(), nullptr) << "it is told once";
  EXPECT_EQ(d.machine.get(only, 1), 5);
}

TEST(departure, is_refused_when_copies_fail_again_and_again_however_few_blocks_there_are) {
  for (const int blocks : {1, 2, 4}) {
    leaving_device d;
    std::vector<block::record*> all;
    for (int k = 0; k < blocks; ++k) {
      all.push_back(&d.machine.make());
      d.machine.put(*all.back(), 1, 5);
    }
    for (const auto& device : d.machine.devices) device->state().fail_copy_work = TSR_INTERNAL;
    d.begin();
    ASSERT_TRUE(d.leaves()) << blocks;
    EXPECT_EQ(d.where.state, placement::place_state::attached);
    const std::unique_ptr<error> why = d.departure.take_refusal();
    ASSERT_NE(why, nullptr);
    EXPECT_EQ(why->kind(), error_kind::device);
    EXPECT_EQ(why->message(), "alpha1 cannot be detached: copies from it fail");
    for (const auto& device : d.machine.devices) device->state().fail_copy_work = TSR_OK;
    for (block::record* const b : all) d.machine.put(*b, 1, 6);
    d.begin();
    EXPECT_TRUE(d.leaves());
    EXPECT_EQ(d.where.state, placement::place_state::detached) << "copies of blocks that were written again are tried";
    for (block::record* const b : all) EXPECT_EQ(d.machine.get(*b, 0), 6);
  }
}

TEST(departure, an_event_that_has_come_already_is_no_reason_to_wait) {
  leaving_device d;
  memory::waiters& room = d.machine.spaces[1]->waiters();
  const std::uint64_t before = room.events();
  room.notify();
  d.departure.wait_for_own_memory(before);
  EXPECT_EQ(d.looks, 1);
  d.departure.wait_for_own_memory(room.events());
  d.departure.wait_for_own_memory(room.events());
  EXPECT_EQ(d.looks, 1);
  room.notify();
  EXPECT_EQ(d.looks, 2) << "one call was registered";
  EXPECT_FALSE(room.any());
}

}  // namespace
}  // namespace tessera::schedule
