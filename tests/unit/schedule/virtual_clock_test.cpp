// The order of events in virtual time, and what time costs.
#include "core/schedule/virtual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A clock that writes down what happens when.
struct watched_clock {
  using happening = std::pair<std::uint64_t, std::uint64_t>;  // time, value
  void at(std::uint64_t time, std::uint64_t value) {
    clock.at(
        time,
        [](void* self, std::uint64_t what) {
          watched_clock& me = *static_cast<watched_clock*>(self);
          me.seen.emplace_back(me.clock.now(), what);
        },
        this, value);
  }
  std::vector<happening> take() { return std::exchange(seen, {}); }

  virtual_clock clock;
  std::vector<happening> seen;
};

TEST(virtual_clock, stands_still_where_nothing_is_due) {
  virtual_clock clock;
  EXPECT_EQ(clock.next(), virtual_clock::never);
  EXPECT_FALSE(clock.advance());
  EXPECT_EQ(clock.now(), 0u);
  EXPECT_EQ(clock.events(), 0u);
}

TEST(virtual_clock, goes_from_event_to_event_in_the_order_of_their_times) {
  watched_clock w;
  for (const std::uint64_t time : {30u, 10u, 20u}) w.at(time, time / 10);
  EXPECT_EQ(w.clock.next(), 10u);
  EXPECT_TRUE(w.clock.advance());
  EXPECT_THAT(w.take(), ElementsAre(Pair(10, 1)));
  EXPECT_EQ(*w.clock.source(), 10u);
  while (w.clock.advance()) {
  }
  EXPECT_THAT(w.take(), ElementsAre(Pair(20, 2), Pair(30, 3)));
  EXPECT_EQ(w.clock.events(), 3u);
}

TEST(virtual_clock, events_at_one_time_happen_in_the_order_in_which_they_were_entered) {
  watched_clock w;
  constexpr std::uint64_t many = 64;  // more than a heap keeps in order by chance
  for (std::uint64_t k = 0; k < many; ++k) w.at(5, k);
  EXPECT_TRUE(w.clock.advance());
  ASSERT_EQ(w.seen.size(), many);
  for (std::uint64_t k = 0; k < many; ++k) EXPECT_THAT(w.seen[k], Pair(5, k));
}

TEST(virtual_clock, a_time_that_has_passed_is_now) {
  watched_clock w;
  w.at(10, 1);
  EXPECT_TRUE(w.clock.advance());
  w.at(3, 2);
  EXPECT_EQ(w.clock.next(), 10u);
  EXPECT_TRUE(w.clock.advance());
  EXPECT_THAT(w.take(), ElementsAre(Pair(10, 1), Pair(10, 2)));
}

TEST(virtual_clock, what_an_event_enters_for_the_same_time_happens_in_the_same_step) {
  watched_clock w;
  w.clock.at(
      7, [](void* self, std::uint64_t) { static_cast<watched_clock*>(self)->at(7, 2); }, &w);
  w.at(7, 1);
  EXPECT_TRUE(w.clock.advance());
  EXPECT_THAT(w.take(), ElementsAre(Pair(7, 1), Pair(7, 2)));
  EXPECT_FALSE(w.clock.advance());
}

TEST(virtual_clock, does_not_go_past_a_limit) {
  watched_clock w;
  w.at(10, 1);
  EXPECT_FALSE(w.clock.advance(9));
  EXPECT_EQ(w.clock.now(), 0u);
  EXPECT_THAT(w.take(), IsEmpty());
  EXPECT_TRUE(w.clock.advance(10));
  EXPECT_THAT(w.take(), ElementsAre(Pair(10, 1)));
}

TEST(virtual_clock, passes_to_a_time_at_which_nothing_happens_but_not_past_an_event_nor_back) {
  watched_clock w;
  w.at(10, 1);
  w.clock.pass_to(4);
  EXPECT_EQ(w.clock.now(), 4u);
  w.clock.pass_to(2);
  EXPECT_EQ(w.clock.now(), 4u);
  w.clock.pass_to(15);
  EXPECT_EQ(w.clock.now(), 10u) << "the event has not happened yet";
  EXPECT_THAT(w.take(), IsEmpty());
  EXPECT_TRUE(w.clock.advance());
  w.clock.pass_to(15);
  EXPECT_EQ(w.clock.now(), 15u);
}

TEST(virtual_clock, charges_add_up_until_they_are_taken) {
  virtual_clock clock;
  EXPECT_EQ(clock.take_charge(), 0u);
  clock.charge(3);
  clock.charge(4);
  EXPECT_EQ(clock.now(), 0u) << "the thread that calls pays for it, when it is asked";
  EXPECT_EQ(clock.take_charge(), 7u);
  EXPECT_EQ(clock.take_charge(), 0u);
}

TEST(virtual_clock, of_nested_meters_the_outermost_counts) {
  virtual_clock clock;
  const std::uint64_t before = clock.metered();
  {
    const virtual_clock::meter outer(clock);
    { const virtual_clock::meter inner(clock); }
    EXPECT_EQ(clock.metered(), before);
    EXPECT_EQ(clock.model_ticks(), 0u) << "time is added when the outermost ends";
  }
  EXPECT_EQ(clock.metered(), before + 1);
  const std::uint64_t so_far = clock.model_ticks();
  { const virtual_clock::meter next(clock); }
  EXPECT_EQ(clock.metered(), before + 2);
  EXPECT_GE(clock.model_ticks(), so_far);
}

TEST(virtual_clock, entering_events_is_time_of_the_model) {
  watched_clock w;
  const std::uint64_t before = w.clock.metered();
  w.at(1, 1);
  EXPECT_EQ(w.clock.metered(), before + 1);
  w.clock.advance();
  EXPECT_EQ(w.clock.metered(), before + 2) << "and so is taking one";
}

}  // namespace
}  // namespace tessera::schedule
