// A ring that comes once its time has passed, on a thread of its own.
#include "core/schedule/alarm.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace tessera::schedule {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

/// Counts its rings, and remembers when the last one was and on which thread.
struct bell {
  void ring() {
    last = alarm::clock::now();
    by = std::this_thread::get_id();
    ++rings;
    rings.notify_all();
  }
  std::atomic<int> rings{0};
  alarm::clock::time_point last;
  std::thread::id by;
};

TEST(alarm, rings_when_its_time_has_passed_and_not_before) {
  bell b;
  alarm a([&] { b.ring(); });
  const auto when = alarm::clock::now() + milliseconds(10);
  a.set(when);
  b.rings.wait(0);
  EXPECT_GE(b.last, when);
  EXPECT_NE(b.by, std::this_thread::get_id());
}

TEST(alarm, rings_at_once_for_a_time_that_has_passed) {
  bell b;
  alarm a([&] { b.ring(); });
  a.set(alarm::clock::now() - hours(1));
  b.rings.wait(0);
  EXPECT_EQ(b.rings, 1);
}

TEST(alarm, that_was_never_set_never_rings) {
  bell b;
  {
    alarm a([&] { b.ring(); });
  }
  EXPECT_EQ(b.rings, 0);
}

TEST(alarm, that_ends_before_its_time_does_not_ring) {
  bell b;
  {
    alarm a([&] { b.ring(); });
    a.set(alarm::clock::now() + hours(1));
  }
  EXPECT_EQ(b.rings, 0) << "nor is its end kept waiting for an hour";
}

TEST(alarm, forgets_the_time_that_it_was_set_to_before) {
  bell b;
  alarm a([&] { b.ring(); });
  a.set(alarm::clock::now() + hours(1));
  a.set(alarm::clock::now());
  b.rings.wait(0);
  EXPECT_EQ(b.rings, 1);
}

TEST(alarm, rings_once_for_each_time_that_it_is_set) {
  bell b;
  alarm a([&] { b.ring(); });
  for (int k = 0; k < 5; ++k) {
    a.set(alarm::clock::now());
    b.rings.wait(k);
    EXPECT_EQ(b.rings, k + 1);
  }
}

TEST(alarm, may_be_set_by_its_own_ring) {
  bell b;
  std::unique_ptr<alarm> a;
  std::atomic<bool> made{false};
  a = std::make_unique<alarm>([&] {
    made.wait(false);
    b.ring();
    if (b.rings < 3) a->set(alarm::clock::now());
  });
  a->set(alarm::clock::now());
  made = true;
  made.notify_all();
  for (int seen = b.rings; seen < 3; seen = b.rings) b.rings.wait(seen);
  a.reset();
  EXPECT_EQ(b.rings, 3) << "the last ring set nothing";
}

TEST(alarm, its_end_waits_for_a_ring_that_is_under_way) {
  std::atomic<bool> began{false}, may_end{false}, ended{false};
  std::thread releaser;
  {
    alarm a([&] {
      began = true;
      began.notify_all();
      may_end.wait(false);
      ended = true;
    });
    a.set(alarm::clock::now());
    began.wait(false);
    releaser = std::thread([&] {
      may_end = true;
      may_end.notify_all();
    });
  }
  EXPECT_TRUE(ended) << "what it uses may go now";
  releaser.join();
}

}  // namespace
}  // namespace tessera::schedule
