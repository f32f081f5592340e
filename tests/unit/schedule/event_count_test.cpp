// Nobody sleeps through what he waited for. A lost wake-up hangs these tests.
#include "core/schedule/event_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tessera::schedule {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int rounds = 5'000;
#else
constexpr int rounds = 10'000;
#endif

TEST(event_count, notifying_nobody_is_harmless_and_cancel_undoes_prepare) {
  event_count events;
  events.notify_one();
  events.notify_all();
  const std::uint32_t key = events.prepare();
  events.cancel();
  EXPECT_EQ(events.prepare(), key);
  events.notify_one();
  events.wait(key);  // returns at once: something happened since prepare
}

TEST(event_count, two_threads_hand_a_token_to_and_fro) {
  event_count events[2];
  std::atomic<int> turn{0};
  const auto player = [&](int me) {
    for (int k = 0; k < rounds; ++k) {
      while (turn.load() != me) {
        const std::uint32_t key = events[me].prepare();
        if (turn.load() == me)
          events[me].cancel();
        else
          events[me].wait(key);
      }
      turn.store(1 - me);
      events[1 - me].notify_one();
    }
  };
  std::thread other(player, 1);
  player(0);
  other.join();
  EXPECT_EQ(turn, 0);
}

TEST(event_count, every_item_finds_a_sleeper) {
  event_count events;
  std::atomic<int> items{0}, taken{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> consumers;
  for (int t = 0; t < 3; ++t)
    consumers.emplace_back([&] {
      const auto take = [&] {
        int there = items.load();
        while (there > 0)
          if (items.compare_exchange_weak(there, there - 1)) return true;
        return false;
      };
      for (;;) {
        if (take()) {
          ++taken;
          continue;
        }
        const std::uint32_t key = events.prepare();
        if (items.load() > 0 || over.load()) {
          events.cancel();
          if (over.load() && items.load() == 0) return;
        } else {
          events.wait(key);
        }
      }
    });
  for (int k = 0; k < rounds; ++k) {
    ++items;
    events.notify_one();
    // Now and then until everything is taken: all consumers are asleep or about to be when the next item comes.
    if (k % 16 == 0)
      while (taken.load() <= k) std::this_thread::yield();
  }
  while (taken.load() < rounds) std::this_thread::yield();
  over = true;
  events.notify_all();
  for (auto& t : consumers) t.join();
  EXPECT_EQ(taken, rounds);
}

}  // namespace
}  // namespace tessera::schedule
