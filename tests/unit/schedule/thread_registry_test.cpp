// Which context belongs to which thread, from its first call to its end.
#include "core/schedule/thread_registry.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

/// A registry of a host and one device.
struct registered {
  registered() {
    for (std::uint32_t k = 0; k < 2; ++k) {
      places.push_back(std::make_unique<placement::place>());
      places[k]->number = k;
      places[k]->is_host = k == 0;
      places[k]->location = 10 + k;
      places[k]->name = k == 0 ? "cpu" : "alpha1";
    }
    is = std::make_unique<thread_registry>(
        thread_registry::setup{.threads = &table,
                               .places = &places,
                               .coherence = machine.is.get(),
                               .thread_ends = [this](thread_context& mine) { ending(mine); },
                               .thread_ended = [this] { ++ended; }});
  }
  /// On a thread of its own, which ends behind it.
  static void on_another_thread(const std::function<void()>& what) { std::thread(what).join(); }

  transfer::rig machine{{"alpha"}};
  std::vector<std::unique_ptr<placement::place>> places;
  thread_table table;
  std::function<void(thread_context&)> ending = [](thread_context&) {};
  std::atomic<int> ended = 0;
  std::unique_ptr<thread_registry> is;
};

TEST(thread_registry, gives_each_thread_a_context_of_the_program_at_the_first_place) {
  registered r;
  thread_context& mine = r.is->current();
  EXPECT_EQ(&r.is->current(), &mine);
  EXPECT_TRUE(mine.is_program);
  EXPECT_FALSE(mine.is_driver);
  EXPECT_EQ(mine.place, 0u);
  EXPECT_EQ(mine.location, r.places[0]->location);
  registered::on_another_thread([&] {
    thread_context& other = r.is->current();
    EXPECT_NE(&other, &mine);
    EXPECT_EQ(&r.is->current(), &other);
    EXPECT_NE(other.user_serial, mine.user_serial);
  });
  EXPECT_EQ(r.table.size(), 2u);
}

TEST(thread_registry, a_context_whose_thread_has_ended_is_used_again) {
  registered r;
  thread_context* first = nullptr;
  std::uint64_t serial = 0;
  registered::on_another_thread([&] {
    first = &r.is->current();
    serial = first->user_serial;
  });
  EXPECT_EQ(r.ended, 1);
  EXPECT_FALSE(first->in_use);
  registered::on_another_thread([&] {
    EXPECT_EQ(&r.is->current(), first);
    EXPECT_TRUE(first->in_use);
    EXPECT_NE(first->user_serial, serial) << "the thread is another one";
  });
  EXPECT_EQ(r.table.size(), 1u);
}

TEST(thread_registry, the_last_call_of_a_thread_has_its_context) {
  registered r;
  thread_context *told = nullptr, *current = nullptr, *its = nullptr;
  r.ending = [&](thread_context& mine) {
    told = &mine;
    current = &r.is->current();
    EXPECT_TRUE(mine.in_use);
  };
  registered::on_another_thread([&] { its = &r.is->current(); });
  EXPECT_EQ(told, its);
  EXPECT_EQ(current, its);
  EXPECT_EQ(r.table.size(), 1u) << "the call has made no further one";
}

TEST(thread_registry, that_is_closed_is_told_of_no_end) {
  registered r;
  const std::shared_ptr<lifetime> alive = r.is->alive();
  registered::on_another_thread([&] {
    (void)r.is->current();
    r.is->close();
  });
  EXPECT_EQ(r.ended, 0);
  EXPECT_FALSE(alive->enter());
}

TEST(thread_registry, two_of_one_process_are_told_apart) {
  registered first, second;
  thread_context &in_first = first.is->current(), &in_second = second.is->current();
  EXPECT_NE(&in_first, &in_second);
  for (int turns = 0; turns < 3; ++turns) {
    EXPECT_EQ(&first.is->current(), &in_first);
    EXPECT_EQ(&second.is->current(), &in_second);
  }
  EXPECT_EQ(first.table.size() + second.table.size(), 2u);
}

TEST(thread_registry, a_later_one_does_not_mistake_what_a_thread_knows_of_an_earlier_one) {
  for (int k = 0; k < 3; ++k) {
    registered r;  // perhaps at the same address
    thread_context& mine = r.is->current();
    EXPECT_EQ(&mine, &r.table[0]);
    EXPECT_EQ(r.table.size(), 1u);
  }
}

TEST(thread_registry, a_driver_has_the_place_of_its_device_and_its_context_is_never_handed_on) {
  registered r;
  thread_context* its = nullptr;
  registered::on_another_thread([&] { its = &r.is->register_thread(r.places[1].get()); });
  EXPECT_TRUE(its->is_driver);
  EXPECT_FALSE(its->is_program);
  EXPECT_EQ(its->place, 1u);
  EXPECT_EQ(its->location, r.places[1]->location);
  EXPECT_NE(&r.is->current(), its);
}

TEST(thread_registry, a_worker_takes_the_context_that_was_made_for_it) {
  registered r;
  thread_context& made = r.is->make_worker(0, 0, 42);
  EXPECT_FALSE(made.is_program);
  EXPECT_EQ(made.location, 42u);
  registered::on_another_thread([&] {
    r.is->take(made);
    EXPECT_EQ(&r.is->current(), &made);
  });
  EXPECT_NE(&r.is->current(), &made) << "a worker's context is not for threads of the program";
}

TEST(thread_registry, one_thread_may_play_all) {
  registered r;
  thread_context& mine = r.is->current();
  thread_context& driver = r.is->make_driver(*r.places[1]);
  EXPECT_TRUE(driver.is_driver);
  EXPECT_EQ(&r.is->current(), &mine) << "making it is not playing it";
  r.is->play(driver);
  EXPECT_EQ(&r.is->current(), &driver);
  r.is->play(mine);
  EXPECT_EQ(&r.is->current(), &mine);
}

TEST(thread_registry, threads_that_come_and_go_at_once_each_have_one_of_their_own) {
  registered r;
  constexpr std::size_t threads = 4, rounds = 50;
  std::vector<std::atomic<int>> users(threads + 1);
  std::vector<std::thread> all;
  for (std::size_t k = 0; k < threads; ++k)
    all.emplace_back([&] {
      for (std::size_t round = 0; round < rounds; ++round)
        std::thread([&] {
          const std::uint16_t number = r.is->current().number;
          ASSERT_LT(number, users.size());
          EXPECT_EQ(users[number].fetch_add(1), 0) << "two threads have one context";
          users[number].fetch_sub(1);
        }).join();
    });
  for (std::thread& one : all) one.join();
  EXPECT_LE(r.table.size(), threads) << "contexts of threads that have ended are used again";
}

}  // namespace
}  // namespace tessera::schedule
