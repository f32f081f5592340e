// Freed memory of a device that is kept for the next allocation.
#include "plugins/gpu_common/abi/kept_memory.hpp"

#include <gmock/gmock.h>

namespace tessera::gpu {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(kept_memory, keeps_nothing_before_it_may) {
  kept_memory kept;
  int memory = 0;
  EXPECT_FALSE(kept.keep(&memory, 1));
  EXPECT_EQ(kept.take(1), nullptr);
}

TEST(kept_memory, gives_memory_of_the_same_size_alone) {
  kept_memory kept;
  kept.set_limit(1000);
  int small = 0, large = 0, other = 0;
  EXPECT_TRUE(kept.keep(&small, 10));
  EXPECT_TRUE(kept.keep(&large, 500));
  EXPECT_TRUE(kept.keep(&other, 10));
  EXPECT_EQ(kept.bytes(), 520u);
  EXPECT_EQ(kept.take(9), nullptr);
  EXPECT_EQ(kept.take(11), nullptr);
  EXPECT_EQ(kept.take(500), &large);
  EXPECT_EQ(kept.take(500), nullptr);
  EXPECT_EQ(kept.bytes(), 20u);
  const std::vector<void*> both{kept.take(10), kept.take(10)};
  EXPECT_THAT(both, UnorderedElementsAre(&small, &other));
}

TEST(kept_memory, ends_at_its_limit_and_begins_again) {
  kept_memory kept;
  kept.set_limit(100);
  int a = 0, b = 0;
  EXPECT_TRUE(kept.keep(&a, 60));
  EXPECT_FALSE(kept.keep(&b, 41));
  EXPECT_TRUE(kept.keep(&b, 40));
  EXPECT_THAT(kept.take_all(), UnorderedElementsAre(&a, &b));
  EXPECT_THAT(kept.take_all(), IsEmpty());
  EXPECT_TRUE(kept.keep(&a, 100)) << "what was taken does not count";
  kept.set_limit(0);
  EXPECT_FALSE(kept.keep(&b, 1)) << "more is kept than may be";
  EXPECT_THAT(kept.take_all(), UnorderedElementsAre(&a));
}

}  // namespace
}  // namespace tessera::gpu
