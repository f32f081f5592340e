// Nobody sleeps through what was waited for.
#include "core/schedule/event_count.hpp"

#include <memory>

#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

using schedule::event_count;

struct counted_items {
  event_count events;
  atomic<int> items{0};
  plain<int> contents{0};
  bool take() {
    int there = items.load(std::memory_order_acquire);
    while (there > 0)
      if (items.compare_exchange_weak(there, there - 1, std::memory_order_acquire, std::memory_order_acquire))
        return true;
    return false;
  }
  /// As a worker does: looks, announces itself, looks again, sleeps.
  void sleep_until_one_is_taken() {
    while (!take()) {
      const std::uint32_t key = events.prepare();
      if (take()) {
        events.cancel();
        return;
      }
      events.wait(key);
    }
  }
};

void one_item(scenario& s) {
  auto m = std::make_shared<counted_items>();
  s.thread([m] {
    m->sleep_until_one_is_taken();
    require(m->contents.get() == 7, "what came with the item");
  });
  s.thread([m] {
    m->contents.set(7);
    m->items.store(1, std::memory_order_release);
    m->events.notify_one();
  });
}

void two_items_for_two_sleepers(scenario& s) {
  auto m = std::make_shared<counted_items>();
  for (int t = 0; t < 2; ++t) s.thread([m] { m->sleep_until_one_is_taken(); });
  s.thread([m] {
    for (int k = 0; k < 2; ++k) {
      m->items.fetch_add(1, std::memory_order_release);
      m->events.notify_one();
    }
  });
}

void two_items_of_two_threads(scenario& s) {
  auto m = std::make_shared<counted_items>();
  s.thread([m] {
    m->sleep_until_one_is_taken();
    m->sleep_until_one_is_taken();
  });
  for (int t = 0; t < 2; ++t)
    s.thread([m] {
      m->items.fetch_add(1, std::memory_order_release);
      m->events.notify_one();
    });
}

void the_end_for_two_sleepers(scenario& s) {
  auto m = std::make_shared<counted_items>();
  for (int t = 0; t < 2; ++t)
    s.thread([m] {
      while (m->items.load(std::memory_order_acquire) == 0) {
        const std::uint32_t key = m->events.prepare();
        if (m->items.load(std::memory_order_acquire) != 0)
          m->events.cancel();
        else
          m->events.wait(key);
      }
    });
  s.thread([m] {
    m->items.store(1, std::memory_order_release);
    m->events.notify_all();
  });
}

TEST(event_count, one_sleeper_and_one_item) { expect_right(one_item); }
TEST(event_count, two_items_for_two_sleepers) { expect_right(two_items_for_two_sleepers); }
TEST(event_count, two_items_of_two_threads) { expect_right(two_items_of_two_threads); }
TEST(event_count, all_are_woken) { expect_right(the_end_for_two_sleepers); }

TEST(event_count, needs_its_fences) {
  expect_found(one_item, {"event_count::someone_sleeps", action::fence}, "nothing is left");
  expect_found(the_end_for_two_sleepers, {"event_count::someone_sleeps", action::fence}, "nothing is left");
  expect_found(one_item, {"event_count::prepare", action::fence}, "nothing is left");
}

}  // namespace
}  // namespace tessera::models
