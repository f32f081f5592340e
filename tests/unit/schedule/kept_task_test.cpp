// Room for one task, which many threads may want.
#include "core/schedule/kept_task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::schedule {
namespace {

TEST(kept_task, there_is_room_for_one) {
  kept_task room;
  task::record first, second;
  EXPECT_TRUE(room.empty());
  EXPECT_EQ(room.take(), nullptr);
  EXPECT_TRUE(room.put(first));
  EXPECT_FALSE(room.empty());
  EXPECT_FALSE(room.put(second)) << "the first one stays";
  EXPECT_EQ(room.take(), &first);
  EXPECT_TRUE(room.empty());
  EXPECT_TRUE(room.put(second));
  EXPECT_EQ(room.take(), &second);
}

TEST(kept_task, each_task_is_taken_once_and_with_what_was_written_to_it) {
  constexpr std::size_t count = 1'500;
  kept_task room;
  const auto tasks = std::make_unique<task::record[]>(count);
  std::atomic<std::uint64_t> taken{0}, sum{0};
  std::vector<std::thread> takers;
  for (int k = 0; k < 3; ++k)
    takers.emplace_back([&] {
      while (taken.load(std::memory_order_relaxed) < count)
        if (const task::record* const t = room.take()) {
          sum.fetch_add(t->sequence, std::memory_order_relaxed);
          taken.fetch_add(1, std::memory_order_relaxed);
        } else {
          std::this_thread::yield();
        }
    });
  for (std::size_t k = 0; k < count; ++k) {
    tasks[k].sequence = k + 1;
    while (!room.put(tasks[k])) std::this_thread::yield();
  }
  for (std::thread& one : takers) one.join();
  EXPECT_EQ(taken, count);
  EXPECT_EQ(sum, count * (count + 1) / 2);
  EXPECT_TRUE(room.empty());
}

}  // namespace
}  // namespace tessera::schedule
