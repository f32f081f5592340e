// Which of several streams that stand still is the one that hangs.
#include "core/schedule/device/hang_detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::uint64_t slot_bytes = 4096;  // of the staging memory, which has four

/// Two devices that reach each other through the host, and a detector with a limit of 800 ms.
struct looked_at {
  looked_at() : computes(rig.streams.create(rig.devices[1]->device(), TSR_STREAM_COMPUTE)) {
    for (const auto& s : rig.streams.all()) streams.push_back(s.get());
    detector = std::make_unique<hang_detector>(800ms, streams, rig.streams, now);
  }
  ~looked_at() { rig.end(); }

  std::optional<hang_detector::finding> look_after(std::chrono::nanoseconds time) {
    return detector->look(now += time);
  }
  /// Looks as often as the watchdog does until something is found; none: not within so many looks.
  std::optional<hang_detector::finding> find(int looks) {
    for (int k = 0; k < looks; ++k)
      if (auto found = look_after(detector->period())) return found;
    return std::nullopt;
  }
  /// A block on the first device; as many `steps` of work there make it.
  block::record& make(std::uint64_t bytes, int steps = 0) {
    block::record& b = rig.make(bytes);
    std::vector<block::access> write{transfer::rig::use(b, intent::write)};
    rig.hold(write, 1);
    if (steps > 0) {
      const std::lock_guard guard(computes.enqueue_lock());
      block::ticket made;
      for (int k = 0; k < steps; ++k) made = computes.signal();
      rig.is->publish(write, made);
      rig.is->finish(write);
    } else {
      rig.done(write);
    }
    return b;
  }
  void move(block::record& b) {
    reads.push_back({transfer::rig::use(b, intent::read)});
    EXPECT_EQ(rig.acquire(reads.back(), 2).outcome, transfer::outcome::ready);
  }
  /// A block on its way from the first device to the second.
  block::record& moving(std::uint64_t bytes = transfer::block_bytes, int steps = 0) {
    block::record& b = make(bytes, steps);
    move(b);
    return b;
  }
  void arrive() {
    rig.settle();
    for (auto& one : reads) rig.done(one);
  }
  transfer::stream& out() { return *rig.is->copies_of(1).out; }
  transfer::stream& in() { return *rig.is->copies_of(2).in; }
  /// Everything that a stream can do, which its driver sees; they are numbered from 1.
  void run(transfer::stream& one) {
    while (rig.world.streams.at(one.number() - 1)->advance()) {
    }
    one.poll();
  }

  transfer::rig rig{{"fake", "fake"}, 4096, false, 2 * slot_bytes};
  transfer::stream& computes;
  std::vector<transfer::stream*> streams;
  std::vector<std::vector<block::access>> reads;
  hang_detector::time_point now{1h};
  std::unique_ptr<hang_detector> detector;
};

TEST(hang_detector, finds_nothing_where_nothing_is_under_way) {
  looked_at l;
  EXPECT_FALSE(l.find(40));
}

TEST(hang_detector, takes_the_side_of_a_staged_copy_that_stands_still) {
  looked_at l;
  block::record& b = l.moving();
  const auto leaving = l.find(9);
  ASSERT_TRUE(leaving);
  EXPECT_EQ(leaving->which, &l.out()) << "the other one waits for it";
  EXPECT_THAT(leaving->doing.description, HasSubstr("the copy of " + block::name_of(b) + " from "));
  l.run(l.out());
  EXPECT_FALSE(l.find(7)) << "the other one could not begin before";
  const auto arriving = l.find(2);
  ASSERT_TRUE(arriving);
  EXPECT_EQ(arriving->which, &l.in());
  EXPECT_THAT(arriving->doing.description, HasSubstr("the copy of " + block::name_of(b) + " from "));
  l.arrive();
}

TEST(hang_detector, takes_the_side_that_holds_up_the_other_one_in_the_middle_of_a_copy) {
  looked_at l;
  l.moving(100'000 / 8 * 8);  // more pieces than slots
  l.run(l.out());
  ASSERT_TRUE(l.out().busy()) << "it waits for a slot";
  const auto arriving = l.find(10);
  ASSERT_TRUE(arriving);
  EXPECT_EQ(arriving->which, &l.in());
  l.arrive();
}

TEST(hang_detector, takes_what_a_staged_copy_waits_for_instead_of_the_copy) {
  looked_at l;
  l.moving(transfer::block_bytes, 1);
  const auto found = l.find(9);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->which, &l.computes) << "though it is looked at last";
  l.arrive();
}

TEST(hang_detector, takes_an_earlier_copy_whose_slot_is_needed_instead_of_the_later_one) {
  looked_at l;
  block::record &first = l.make(4 * slot_bytes), &second = l.make(slot_bytes);
  l.move(first);  // in all slots
  l.run(l.out());
  l.move(second);
  const auto found = l.find(10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->which, &l.in());
  l.arrive();
}

TEST(hang_detector, asks_before_it_takes_a_stream) {
  looked_at l;
  l.moving();
  EXPECT_FALSE(l.find(7));
  l.run(l.out());
  EXPECT_FALSE(l.find(7));
  while (l.rig.world.streams.at(l.in().number() - 1)->advance()) {
  }
  EXPECT_FALSE(l.find(20)) << "it has ended, and no driver has seen it";
  l.arrive();
}

TEST(hang_detector, does_not_count_time_in_which_it_did_not_run) {
  looked_at l;
  l.moving();
  EXPECT_FALSE(l.look_after(100ms));
  EXPECT_FALSE(l.look_after(1h)) << "the process was stopped, as by a debugger: perhaps its devices were, too";
  EXPECT_FALSE(l.find(4));
  EXPECT_TRUE(l.find(2)) << "it does count the time afterwards";
  l.arrive();
}

TEST(hang_detector, finds_nothing_while_what_is_waited_for_goes_on) {
  looked_at l;
  constexpr int steps = 10;
  l.moving(transfer::block_bytes, steps);
  for (int k = 0; k < steps; ++k) {
    EXPECT_FALSE(l.find(7)) << "both halves of the copy wait for ten times 700 ms of work";
    l.rig.world.streams.at(l.computes.number() - 1)->advance();
    l.computes.poll();
  }
  l.arrive();
}

TEST(hang_detector, gives_what_seems_to_wait_twice_the_time) {
  looked_at l;
  l.moving(transfer::block_bytes, 1);
  // Nobody looks at what it waits for.
  hang_detector one(800ms, {&l.out()}, l.rig.streams, l.now);
  int looks = 1;
  while (!one.look(l.now += one.period())) ++looks;
  EXPECT_NEAR(looks, 16, 1);
  l.arrive();
}

}  // namespace
}  // namespace tessera::schedule
