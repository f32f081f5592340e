// Freed memory of a device that is kept for the next allocation.
#include "plugins/gpu_common/abi/kept_memory.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace tessera::gpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
constexpr std::uint64_t whatever_is_kept = std::numeric_limits<std::uint64_t>::max();

TEST(kept_memory, keeps_nothing_before_it_may) {
  kept_memory kept;
  int memory = 0;
  EXPECT_THAT(kept.keep(&memory, 1), ElementsAre(&memory));
  EXPECT_EQ(kept.take(1), nullptr);
}

TEST(kept_memory, gives_memory_of_the_same_size_alone) {
  kept_memory kept;
  kept.set_limit(1000);
  int small = 0, large = 0, other = 0;
  EXPECT_THAT(kept.keep(&small, 10), IsEmpty());
  EXPECT_THAT(kept.keep(&large, 500), IsEmpty());
  EXPECT_THAT(kept.keep(&other, 10), IsEmpty());
  EXPECT_EQ(kept.bytes(), 520u);
  EXPECT_EQ(kept.take(9), nullptr);
  EXPECT_EQ(kept.take(11), nullptr);
  EXPECT_EQ(kept.take(500), &large);
  EXPECT_EQ(kept.take(500), nullptr);
  EXPECT_EQ(kept.bytes(), 20u);
  EXPECT_EQ(kept.take(10), &small);
  EXPECT_EQ(kept.take(10), &other);
}

TEST(kept_memory, the_oldest_goes_where_there_is_no_room) {
  kept_memory kept;
  kept.set_limit(100);
  int a = 0, b = 0, c = 0, d = 0;
  EXPECT_THAT(kept.keep(&a, 60), IsEmpty());
  EXPECT_THAT(kept.keep(&b, 40), IsEmpty());
  EXPECT_THAT(kept.keep(&c, 50), ElementsAre(&a));
  EXPECT_THAT(kept.keep(&d, 101), ElementsAre(&d)) << "more than may be kept at all";
  EXPECT_EQ(kept.bytes(), 90u);
  EXPECT_THAT(kept.keep(&a, 100), ElementsAre(&b, &c));
}

TEST(kept_memory, gives_back_as_much_as_is_wanted) {
  kept_memory kept;
  kept.set_limit(100);
  int a = 0, b = 0, c = 0;
  for (int* one : {&a, &b, &c}) EXPECT_THAT(kept.keep(one, 30), IsEmpty());
  EXPECT_THAT(kept.take_oldest(0), IsEmpty());
  EXPECT_THAT(kept.take_oldest(31), ElementsAre(&a, &b));
  EXPECT_EQ(kept.bytes(), 30u);
  EXPECT_THAT(kept.take_oldest(whatever_is_kept), ElementsAre(&c));
  EXPECT_THAT(kept.take_oldest(whatever_is_kept), IsEmpty());
}

}  // namespace
}  // namespace tessera::gpu
