// The clock of simulated runs.
#include <gtest/gtest.h>

#include <vector>

#include "core/schedule/virtual_clock.hpp"

namespace tessera::schedule {
namespace {

struct diary {
  virtual_clock clock;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;  // time, what
  static void note(void* self, std::uint64_t what) {
    auto& mine = *static_cast<diary*>(self);
    mine.entries.emplace_back(mine.clock.now(), what);
  }
};

TEST(virtual_clock, runs_events_by_time_and_then_in_the_order_of_entry) {
  diary d;
  for (const auto& [time, what] : {std::pair{30, 0}, {10, 1}, {20, 2}, {10, 3}, {30, 4}, {10, 5}})
    d.clock.at(static_cast<std::uint64_t>(time), diary::note, &d, static_cast<std::uint64_t>(what));
  EXPECT_TRUE(d.clock.advance());
  EXPECT_EQ(d.clock.now(), 10u);
  EXPECT_EQ(d.entries.size(), 3u) << "all that are due at one time";
  while (d.clock.advance()) {
  }
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{10, 1}, {10, 3}, {10, 5},
                                                                      {20, 2}, {30, 0}, {30, 4}};
  EXPECT_EQ(d.entries, expected);
  EXPECT_EQ(d.clock.events(), 6u);
}

TEST(virtual_clock, an_event_may_enter_others_at_its_own_time) {
  diary d;
  d.clock.at(
      5,
      [](void* self, std::uint64_t) {
        auto& mine = *static_cast<diary*>(self);
        mine.clock.at(mine.clock.now(), diary::note, self, 7);
        mine.clock.at(1, diary::note, self, 8);  // that has passed: now
      },
      &d);
  EXPECT_TRUE(d.clock.advance());
  EXPECT_EQ(d.entries.size(), 2u);
  EXPECT_FALSE(d.clock.advance());
  EXPECT_EQ(d.clock.now(), 5u);
}

TEST(virtual_clock, stops_at_a_limit_and_never_jumps_over_an_event) {
  diary d;
  d.clock.at(100, diary::note, &d);
  EXPECT_FALSE(d.clock.advance(99));
  EXPECT_EQ(d.clock.now(), 0u);
  d.clock.pass_to(60);
  EXPECT_EQ(d.clock.now(), 60u);
  d.clock.pass_to(500);
  EXPECT_EQ(d.clock.now(), 100u);
  EXPECT_TRUE(d.entries.empty());
  EXPECT_TRUE(d.clock.advance(100));
  EXPECT_EQ(d.entries.size(), 1u);
}

TEST(virtual_clock, counts_the_outermost_meter_only) {
  virtual_clock clock;
  {
    const virtual_clock::meter outer(clock);
    const virtual_clock::meter inner(clock);
  }
  EXPECT_EQ(clock.metered(), 1u);
  clock.charge(3);
  clock.charge(4);
  EXPECT_EQ(clock.take_charge(), 7u);
  EXPECT_EQ(clock.take_charge(), 0u);
}

}  // namespace
}  // namespace tessera::schedule
