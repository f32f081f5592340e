// Who is woken when a memory has room, in which order, and that nobody is forgotten.
#include "core/memory/waiters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A waiter that writes its age down when it is woken.
struct noted_waiter : memory_waiter {
  noted_waiter(std::uint64_t how_old, std::vector<std::uint64_t>& where) : notes(&where) {
    age = how_old;
    wake = [](memory_waiter* self) { static_cast<noted_waiter*>(self)->notes->push_back(self->age); };
  }
  std::vector<std::uint64_t>* notes;
};

TEST(waiters, are_woken_all_at_once_the_oldest_first) {
  waiters room;
  std::vector<std::uint64_t> woken;
  noted_waiter old(1, woken), young(9, woken), middle(5, woken);
  for (noted_waiter* const one : {&middle, &young, &old}) EXPECT_TRUE(room.wait(*one, room.events()));
  EXPECT_TRUE(room.any());
  room.notify();
  EXPECT_THAT(woken, ElementsAre(1, 5, 9));
  EXPECT_FALSE(room.any());
  room.notify();
  EXPECT_EQ(woken.size(), 3u) << "each is woken once";
}

TEST(waiters, an_event_since_the_look_is_no_reason_to_wait) {
  waiters room;
  std::vector<std::uint64_t> woken;
  noted_waiter one(1, woken);
  const std::uint64_t seen = room.events();
  room.notify();
  EXPECT_EQ(room.events(), seen + 1) << "also where nobody waits";
  EXPECT_FALSE(room.wait(one, seen));
  EXPECT_FALSE(room.any());
  room.notify();
  EXPECT_THAT(woken, IsEmpty());
}

TEST(waiters, one_may_wait_again_while_it_is_woken) {
  struct stubborn : memory_waiter {
    waiters* room = nullptr;
    int woken = 0;
  } one;
  waiters room;
  one.room = &room;
  one.wake = [](memory_waiter* self) {
    auto& me = *static_cast<stubborn*>(self);
    ++me.woken;
    EXPECT_TRUE(me.room->wait(me, me.room->events())) << "no lock is held";
  };
  EXPECT_TRUE(room.wait(one, room.events()));
  for (int k = 1; k <= 3; ++k) {
    room.notify();
    EXPECT_EQ(one.woken, k);
  }
  EXPECT_EQ(room.take_oldest(), &one);
}

TEST(waiters, the_oldest_may_be_taken_out_without_being_woken) {
  waiters room;
  std::vector<std::uint64_t> woken;
  noted_waiter old(3, woken), young(7, woken);
  EXPECT_EQ(room.take_oldest(), nullptr);
  EXPECT_TRUE(room.wait(young, room.events()));
  EXPECT_TRUE(room.wait(old, room.events()));
  EXPECT_EQ(room.take_oldest(), &old);
  EXPECT_TRUE(room.any());
  EXPECT_EQ(room.take_oldest(), &young);
  EXPECT_FALSE(room.any());
  room.notify();
  EXPECT_THAT(woken, IsEmpty());
}

TEST(waiters, of_another_memory_are_woken_by_the_next_event_here_once) {
  waiters here, other;
  std::vector<std::uint64_t> woken;
  noted_waiter one(1, woken), two(2, woken);
  EXPECT_TRUE(other.wait(one, other.events()));
  here.wake_too(other);
  here.wake_too(other);
  EXPECT_TRUE(here.any()) << "somebody is to be told";
  const std::uint64_t before = other.events();
  here.notify();
  EXPECT_THAT(woken, ElementsAre(1));
  EXPECT_EQ(other.events(), before + 1) << "asked twice, told once";
  EXPECT_FALSE(here.any());
  EXPECT_TRUE(other.wait(two, other.events()));
  here.notify();
  EXPECT_THAT(woken, ElementsAre(1)) << "only the next event is passed on";
  EXPECT_EQ(other.take_oldest(), &two);
}

TEST(waiters, two_memories_that_pass_events_to_each_other_come_to_an_end) {
  waiters a, b;
  std::vector<std::uint64_t> woken;
  noted_waiter in_a(1, woken), in_b(2, woken);
  EXPECT_TRUE(a.wait(in_a, a.events()));
  EXPECT_TRUE(b.wait(in_b, b.events()));
  a.wake_too(b);
  b.wake_too(a);
  a.notify();
  EXPECT_THAT(woken, ElementsAre(1, 2));
  EXPECT_FALSE(a.any() || b.any());
}

TEST(waiters, no_event_is_lost_between_threads) {
  constexpr int threads = 3, rounds = 300;
  struct flagged : memory_waiter {
    std::atomic<bool> woken{false};
  };
  waiters room;
  std::atomic<int> left{threads};
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k)
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        flagged me;
        me.wake = [](memory_waiter* self) {
          auto& its = *static_cast<flagged*>(self);
          its.woken.store(true);
        };
        if (!room.wait(me, room.events())) continue;
        while (!me.woken.load()) std::this_thread::yield();
      }
      --left;
    });
  while (left != 0) {
    room.notify();
    std::this_thread::yield();
  }
  for (std::thread& one : all) one.join();
  EXPECT_FALSE(room.any());
}

}  // namespace
}  // namespace tessera::memory
