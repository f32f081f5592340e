// No task is lost or taken twice, and what its producer wrote comes with it.
#include "core/schedule/ready_ring.hpp"

#include <memory>

#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

using schedule::ready_ring;

struct ring_and_tasks {
  static constexpr std::size_t count = 3;
  ready_ring ring;
  std::array<task::record, count> tasks;
  std::array<plain<int>, count> filled;  // what stands in the task
  std::array<plain<int>, count> taken;   // by whom it was taken: each by one thread, whose writes do not meet
  std::size_t number_of(const task::record* t) const { return static_cast<std::size_t>(t - tasks.data()); }
  void push(std::size_t k) {
    filled[k].set(1);
    require(ring.push(tasks[k]), "there is room");
  }
  void took(const task::record* t) {
    require(t >= tasks.data() && t < tasks.data() + count, "a task that was pushed");
    const std::size_t k = number_of(t);
    require(filled[k].get() == 1, "the task's fields");
    taken[k].set(taken[k].get() + 1);
  }
  void steal(std::uint32_t most) {
    std::array<task::record*, 4> loot{};
    const std::uint32_t got = ring.steal(loot.data(), most);
    for (std::uint32_t k = 0; k < got; ++k) took(loot[k]);
  }
  void pop() {
    if (const task::record* t = ring.pop()) took(t);
  }
  void drain(std::size_t pushed) {
    while (const task::record* t = ring.pop()) took(t);
    for (std::size_t k = 0; k < count; ++k) require(taken[k].get() == (k < pushed ? 1 : 0), "each task once");
  }
};

void owner_and_thief(scenario& s) {
  auto m = std::make_shared<ring_and_tasks>();
  s.thread([m] {
    for (std::size_t k = 0; k < 3; ++k) m->push(k);
    m->pop();
  });
  s.thread([m] { m->steal(2), m->steal(2); });
  s.at_the_end([m] { m->drain(3); });
}

void two_thieves(scenario& s) {
  auto m = std::make_shared<ring_and_tasks>();
  s.thread([m] {
    m->push(0), m->push(1);
    m->pop();
  });
  for (int t = 0; t < 2; ++t) s.thread([m] { m->steal(2); });
  s.at_the_end([m] { m->drain(2); });
}

/// The ring is nearly full: the owner's next push goes where a thief may still be reading.
void around_the_end(scenario& s) {
  struct full : ring_and_tasks {
    task::record filler;
  };
  auto m = std::make_shared<full>();
  for (std::uint32_t k = 0; k + 1 < ready_ring::capacity; ++k) m->ring.push(m->filler);
  m->filled[0].set(1);
  m->ring.push(m->tasks[0]);
  s.thread([m] {
    m->filled[1].set(1);
    if (m->ring.push(m->tasks[1])) return;  // the thief has made room
    require(m->ring.pop() == &m->filler, "one of the oldest");
    require(m->ring.push(m->tasks[1]), "in the slot that the thief may be reading");
  });
  s.thread([m] {
    std::array<task::record*, 2> loot{};
    const std::uint32_t got = m->ring.steal(loot.data(), 2);
    for (std::uint32_t k = 0; k < got; ++k) require(loot[k] == &m->filler, "the oldest, not what took its slot");
  });
  s.at_the_end([m] {
    std::uint32_t fillers = 0;
    while (const task::record* t = m->ring.pop())
      if (t == &m->filler)
        ++fillers;
      else
        m->took(t);
    require(m->taken[0].get() == 1 && m->taken[1].get() == 1, "each task once");
    require(fillers >= ready_ring::capacity - 4, "those that were not taken");
  });
}

TEST(ready_ring, owner_and_thief) { expect_right(owner_and_thief); }
TEST(ready_ring, two_thieves) { expect_right(two_thieves); }
TEST(ready_ring, around_the_end) { expect_right(around_the_end); }

TEST(ready_ring, needs_its_orders) {
  expect_found(owner_and_thief, {"ready_ring::push", action::store}, "data race");
  expect_found(owner_and_thief, {"ready_ring::take", action::load}, "data race");
}

}  // namespace
}  // namespace tessera::models
