// The queues of ready tasks: ring, spill, priorities.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "core/placement/place.hpp"
#include "core/schedule/ready_ring.hpp"
#include "core/schedule/thread_context.hpp"

namespace tessera::schedule {
namespace {

using placement::place;
using task::priority_queue;
using task::spill_queue;

std::unique_ptr<task::record[]> numbered(std::size_t count) {
  auto tasks = std::make_unique<task::record[]>(count);
  for (std::size_t k = 0; k < count; ++k) tasks[k].sequence = k;
  return tasks;
}

TEST(ready_ring, first_in_first_out_up_to_its_capacity) {
  ready_ring ring;
  const auto tasks = numbered(ready_ring::capacity + 1);
  EXPECT_EQ(ring.pop(), nullptr);
  for (int round = 0; round < 5; ++round) {  // around the end of the array
    for (std::uint32_t k = 0; k < ready_ring::capacity; ++k) ASSERT_TRUE(ring.push(tasks[k]));
    EXPECT_FALSE(ring.push(tasks[ready_ring::capacity])) << "full";
    EXPECT_EQ(ring.size(), ready_ring::capacity);
    for (std::uint32_t k = 0; k < ready_ring::capacity; ++k) {
      ASSERT_EQ(ring.pop(), &tasks[k]);
      if (k == 99) {
        EXPECT_TRUE(ring.push(tasks[ready_ring::capacity])) << "room again";
      }
    }
    EXPECT_EQ(ring.pop(), &tasks[ready_ring::capacity]);
    EXPECT_EQ(ring.pop(), nullptr);
  }
}

TEST(ready_ring, thieves_take_half_rounded_up_from_the_front) {
  ready_ring ring;
  const auto tasks = numbered(11);
  task::record* loot[64];
  EXPECT_EQ(ring.steal(loot, 64), 0u);
  for (int k = 0; k < 11; ++k) ring.push(tasks[static_cast<std::size_t>(k)]);
  EXPECT_EQ(ring.steal(loot, 64), 6u);
  for (std::uint64_t k = 0; k < 6; ++k) EXPECT_EQ(loot[k]->sequence, k);
  EXPECT_EQ(ring.steal(loot, 2), 2u);
  EXPECT_EQ(loot[1]->sequence, 7u);
  EXPECT_EQ(ring.size(), 3u);
  EXPECT_EQ(ring.pop()->sequence, 8u);
  EXPECT_EQ(ring.steal(loot, 64), 1u);
  EXPECT_EQ(ring.steal(loot, 64), 1u) << "the last one too";
  EXPECT_EQ(ring.pop(), nullptr);
}

TEST(ready_ring, every_task_comes_out_exactly_once_under_theft) {
#if defined(__SANITIZE_THREAD__)
  constexpr std::size_t count = 60'000;
#else
  constexpr std::size_t count = 600'000;
#endif
  ready_ring ring;
  const auto tasks = numbered(count);
  const auto seen = std::make_unique<std::atomic<int>[]>(count);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> total{0};
  std::vector<std::thread> thieves;
  for (int t = 0; t < 3; ++t)
    thieves.emplace_back([&, t] {
      task::record* loot[64];
      std::uint64_t last = 0;
      bool ordered = true;
      for (;;) {
        const bool over = done.load();
        const std::uint32_t got = ring.steal(loot, t == 0 ? 1 : 64);
        for (std::uint32_t k = 0; k < got; ++k) {
          ++seen[loot[k]->sequence];
          ordered = ordered && loot[k]->sequence + 1 > last;
          last = loot[k]->sequence;
        }
        total += got;
        if (got == 0 && over) break;
      }
      EXPECT_TRUE(ordered) << "one consumer sees tasks in the order in which they were pushed";
    });
  std::mt19937 random(1);
  std::size_t popped = 0;
  for (std::size_t k = 0; k < count; ++k) {
    while (!ring.push(tasks[k]))
      if (task::record* t = ring.pop()) ++seen[t->sequence], ++popped;
    if (random() % 3 == 0)
      if (task::record* t = ring.pop()) ++seen[t->sequence], ++popped;
  }
  done = true;
  for (auto& t : thieves) t.join();
  while (task::record* t = ring.pop()) ++seen[t->sequence], ++popped;
  EXPECT_EQ(total + popped, count);
  EXPECT_TRUE(std::all_of(seen.get(), seen.get() + count, [](const auto& n) { return n == 1; }));
}

TEST(spill_queue, first_in_first_out_and_shared_by_halves) {
  spill_queue queue;
  const auto tasks = numbered(10);
  task::record* out[16];
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
  for (int k = 0; k < 10; ++k) queue.push(tasks[static_cast<std::size_t>(k)]);
  EXPECT_EQ(queue.pop(out, 16, true), 5u);
  EXPECT_EQ(out[4]->sequence, 4u);
  EXPECT_EQ(queue.pop(out, 2), 2u);
  EXPECT_EQ(out[0]->sequence, 5u);
  EXPECT_EQ(queue.pop()->sequence, 7u);
  EXPECT_EQ(queue.pop(out, 16), 2u);
  EXPECT_TRUE(queue.empty());
  queue.push(tasks[3]);  // usable after it was empty
  EXPECT_EQ(queue.pop(out, 16, true), 1u);
  EXPECT_TRUE(queue.empty());
}

TEST(spill_queue, many_threads) {
  constexpr std::size_t per_thread = 20'000;
  spill_queue queue;
  const auto tasks = numbered(3 * per_thread);
  const auto seen = std::make_unique<std::atomic<int>[]>(3 * per_thread);
  std::atomic<std::size_t> left{3 * per_thread};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      task::record* out[32];
      for (std::size_t k = 0; k < per_thread; ++k) {
        queue.push(tasks[t * per_thread + k]);
        if (k % 5 != 4) continue;
        const std::uint32_t got = queue.pop(out, 7, t == 1);
        for (std::uint32_t n = 0; n < got; ++n) ++seen[out[n]->sequence];
        left -= got;
      }
    });
  for (auto& t : threads) t.join();
  while (task::record* t = queue.pop()) ++seen[t->sequence], --left;
  EXPECT_EQ(left, 0u);
  EXPECT_TRUE(std::all_of(seen.get(), seen.get() + 3 * per_thread, [](const auto& n) { return n == 1; }));
}

TEST(priority_queue, highest_priority_then_oldest) {
  priority_queue queue;
  const auto tasks = numbered(1000);
  std::mt19937 random(7);
  std::vector<task::record*> expected;
  for (std::size_t k = 0; k < 1000; ++k) {
    tasks[k].priority = static_cast<std::int16_t>(static_cast<int>(random() % 9) - 4);
    expected.push_back(&tasks[k]);
  }
  std::ranges::shuffle(expected, random);
  for (task::record* t : expected) queue.push(*t);
  EXPECT_EQ(queue.size(), 1000u);
  std::ranges::stable_sort(expected, [](const task::record* a, const task::record* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
  });
  for (task::record* t : expected) ASSERT_EQ(queue.pop(), t);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(priority_queue, those_that_have_their_blocks_are_in_the_same_order_and_can_be_had_first) {
  priority_queue queue;
  const auto tasks = numbered(1000);
  std::mt19937 random(8);
  std::vector<task::record*> all, acquired;
  for (std::size_t k = 0; k < 1000; ++k) {
    tasks[k].priority = static_cast<std::int16_t>(random() % 5);
    if (random() % 3 == 0) tasks[k].flags |= task::flag_acquired;
    all.push_back(&tasks[k]);
  }
  const auto order = [](std::vector<task::record*>& some) {
    std::ranges::stable_sort(some, [](const task::record* a, const task::record* b) {
      return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
    });
  };
  order(all);
  std::ranges::copy_if(all, std::back_inserter(acquired),
                       [](const task::record* t) { return (t->flags & task::flag_acquired) != 0; });
  for (const std::size_t first : {0u, 100u}) {
    auto shuffled = all;
    std::ranges::shuffle(shuffled, random);
    for (task::record* t : shuffled) queue.push(*t);
    EXPECT_TRUE(queue.has_acquired());
    auto left = all;
    for (std::size_t k = 0; k < first; ++k) {
      task::record* const t = queue.pop_acquired();
      ASSERT_EQ(t, acquired[k]);
      std::erase(left, t);
    }
    EXPECT_EQ(queue.size(), left.size());
    for (const task::record* t : left) ASSERT_EQ(queue.pop(), t);
    EXPECT_FALSE(queue.has_acquired());
    EXPECT_EQ(queue.pop_acquired(), nullptr);
  }
  // By age the oldest, whichever it is.
  for (task::record* t : all) queue.push(*t);
  std::uint64_t last = 0;
  for (std::uint64_t age = 500; queue.has(age);) {
    task::record* const t = queue.pop(age);
    ASSERT_NE(t, nullptr);
    ASSERT_LT(t->sequence, age);
    last = std::max(last, t->sequence);
  }
  EXPECT_EQ(queue.pop(500), nullptr);
  EXPECT_LT(last, 500u);
}

TEST(place, learns_its_speed_from_tasks_of_some_work) {
  place e;
  e.ns_per_flop = 1.0;
  e.learn(10, 1e9);
  EXPECT_DOUBLE_EQ(e.ns_per_flop, 1.0) << "too little work to say anything";
  for (int k = 0; k < 100; ++k) e.learn(1e6, 5e5);
  EXPECT_NEAR(e.ns_per_flop, 0.5, 1e-6);
  e.parallelism = 4;
  e.queued_ns = 8'000'000'000;
  EXPECT_DOUBLE_EQ(e.queue_seconds(), 2.0);
  e.queued_ns = -5;
  EXPECT_DOUBLE_EQ(e.queue_seconds(), 0.0) << "estimates may cross for a moment";
}

}  // namespace
}  // namespace tessera::schedule
