// Records that several threads give back come to their owner once each, and whole.
#include "core/task/pool.hpp"

#include <memory>
#include <set>

#include "tests/models/planted.hpp"

namespace tessera::models {
namespace {

struct pool_and_records {
  task::pool pool{0};
  std::array<task::record*, 3> first{};  // what the owner has taken before
  std::array<plain<int>, 3> left;        // written by the thread that used the record last
  pool_and_records() {
    for (auto& t : first) t = &pool.take();
    for (int k = 3; k < 256; ++k) pool.take();  // the first chunk is out: the next take looks at what came back
  }
  std::size_t number_of(const task::record& t) const {
    for (std::size_t k = 0; k < first.size(); ++k)
      if (first[k] == &t) return k;
    return first.size();
  }
};

void given_back_by_two(scenario& s) {
  auto m = std::make_shared<pool_and_records>();
  auto again = std::make_shared<std::set<std::size_t>>();
  s.thread([m] {
    m->left[0].set(1), m->left[1].set(1);
    m->first[0]->next = m->first[1];
    m->pool.give_back(*m->first[0], *m->first[1]);
  });
  s.thread([m] {
    m->left[2].set(1);
    m->pool.give_back(*m->first[2], *m->first[2]);
  });
  const auto take = [m, again] {
    const std::size_t k = m->number_of(m->pool.take());
    if (k == m->first.size()) return false;  // of a new chunk
    require(again->insert(k).second, "no record twice");
    require(m->left[k].get() == 1, "what its last user wrote is done");
    return true;
  };
  s.thread([take] { static_cast<void>(take() && take()); });
}

TEST(pool, records_come_back_once_each) { expect_right(given_back_by_two); }
TEST(pool, needs_its_orders) {
  expect_found(given_back_by_two, {"pool::give_back", action::exchange}, "data race");
  expect_found(given_back_by_two, {"pool::refill", action::exchange}, "data race");
}

}  // namespace
}  // namespace tessera::models
