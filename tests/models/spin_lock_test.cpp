#include "core/base/spin_lock.hpp"

#include <memory>
#include <mutex>

#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

struct guarded {
  spin_lock lock;
  plain<int> value{0};
  void add() { value.set(value.get() + 1); }
};

void three_threads(scenario& s) {
  auto m = std::make_shared<guarded>();
  for (int t = 0; t < 3; ++t)
    s.thread([m] {
      const std::lock_guard guard(m->lock);
      m->add();
    });
  s.at_the_end([m] { require(m->value.get() == 3, "each was alone"); });
}

void one_tries(scenario& s) {
  auto m = std::make_shared<guarded>();
  auto added = std::make_shared<plain<int>>(0);
  s.thread([m] {
    const std::lock_guard guard(m->lock);
    m->add();
  });
  s.thread([m, added] {
    if (!m->lock.try_lock()) return;
    m->add();
    m->lock.unlock();
    added->set(1);
  });
  s.at_the_end([m, added] { require(m->value.get() == 1 + added->get(), "each was alone"); });
}

TEST(spin_lock, one_thread_at_a_time) {
  expect_right(three_threads);
  expect_right(one_tries);
}

TEST(spin_lock, needs_its_orders) {
  expect_found(three_threads, {"spin_lock::lock", action::exchange}, "data race");
  expect_found(three_threads, {"spin_lock::unlock", action::store}, "data race");
  expect_found(one_tries, {"spin_lock::try_lock", action::exchange}, "data race");
}

}  // namespace
}  // namespace tessera::models
