// Vector clocks: what is known, and what is taken for granted.
#include "core/validate/clock.hpp"

#include <gtest/gtest.h>

namespace tessera::validate {
namespace {

TEST(clock, knows_what_it_has_learnt_and_nothing_else) {
  class clock a, b;
  a.learn(1, 10);
  b.learn(2, 20);
  EXPECT_TRUE(a.knows(1, 10));
  EXPECT_TRUE(a.knows(1, 9));
  EXPECT_FALSE(a.knows(1, 11));
  EXPECT_FALSE(a.knows(2, 1));
  a.learn(b);
  EXPECT_TRUE(a.knows(2, 20));
  EXPECT_FALSE(b.knows(1, 1)) << "learning goes one way";
  a.learn(1, 5);
  EXPECT_TRUE(a.knows(1, 10)) << "nothing is forgotten";
}

TEST(clock, a_floor_stands_for_everybody) {
  class clock a, b;
  a.learn(1, 10);
  a.learn_all_up_to(15);
  EXPECT_TRUE(a.knows(7, 15));
  EXPECT_FALSE(a.knows(7, 16));
  a.learn(3, 12);  // below the floor: nothing new
  EXPECT_FALSE(a.knows(3, 16));
  b.learn(a);
  EXPECT_EQ(b.floor(), 15u);
}

TEST(clock, takes_order_for_granted_when_too_many_are_at_work) {
  class clock a;
  for (actor_number k = 1; k <= 3000; ++k) a.learn(k, k);
  EXPECT_TRUE(a.knows(1, 1));
  EXPECT_TRUE(a.knows(3000, 3000));
  EXPECT_FALSE(a.knows(1, 3001)) << "later events are still watched";
}

}  // namespace
}  // namespace tessera::validate
