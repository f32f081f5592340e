// The one thread of a rank, and workers that hand operations to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cluster/transport/rank_thread.hpp"

namespace {

using namespace tessera;
using namespace tessera::cluster;
using testing::HasSubstr;

/// Ranks of one process that share a transport.
class job {
 public:
  explicit job(std::int64_t ranks, std::vector<plugin::raw_option> values = {},
               std::function<void(std::int32_t, const message_view&)> receive = {}) {
    values.push_back({"ranks", ranks, "test"});
    const auto shared = std::make_shared<transport>(
        transport_options{.directories = {TESSERA_TRANSPORT_DIR}, .name = "inprocess", .values = std::move(values)});
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      all.push_back(std::make_unique<rank_thread>([shared] { return shared; }, rank,
                                                  [receive, rank](const message_view& one) {
                                                    if (receive) receive(rank, one);
                                                  }));
  }
  /// A window of all ranks, by a thread for each.
  std::vector<tsr_window*> window(std::uint64_t bytes) {
    std::vector<tsr_window*> made(all.size());
    for_all([&](std::size_t k) {
      all[k]->run([&](endpoint& on, request& done) { return on.window_create(bytes, made[k], done), true; });
    });
    return made;
  }
  template <class Function>
  void for_all(Function&& function) {
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < all.size(); ++k) threads.emplace_back([&, k] { function(k); });
    for (std::thread& one : threads) one.join();
  }
  std::vector<std::unique_ptr<rank_thread>> all;
};

TEST(operation_queue, keeps_the_order_of_each_thread) {
  struct numbered final : operation {
    int thread = 0, number = 0;
    bool begin(endpoint&, request&) override { return true; }
  };
  constexpr int threads = 3, each = 2000;
  std::vector<std::vector<numbered>> all;
  operation_queue queue;
  for (int t = 0; t < threads; ++t) all.emplace_back(each);
  std::vector<std::thread> producers;
  for (int t = 0; t < threads; ++t)
    producers.emplace_back([&, t] {
      for (int k = 0; k < each; ++k) {
        numbered& one = all[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)];
        one.thread = t, one.number = k;
        queue.push(one);
      }
    });
  int next[threads] = {}, total = 0;
  while (total < threads * each)
    queue.take_all([&](operation& one) {
      const auto& n = static_cast<numbered&>(one);
      EXPECT_EQ(n.number, next[n.thread]++);
      ++total;
    });
  for (std::thread& one : producers) one.join();
  EXPECT_TRUE(queue.empty());
}

/// Several workers at each of several ranks: every ticket of one counter is given once.
void tickets(std::vector<plugin::raw_option> values, std::int64_t ranks) {
  constexpr int workers = 3, each = 200;
  job j(ranks, std::move(values));
  const auto windows = j.window(64);
  std::mutex guard;
  std::vector<std::int64_t> seen;
  j.for_all([&](std::size_t k) {
    std::vector<std::thread> crew;
    for (int w = 0; w < workers; ++w)
      crew.emplace_back([&, k] {
        std::vector<std::int64_t> mine;
        for (int n = 0; n < each; ++n) {
          std::int64_t before = -1;
          j.all[k]->run([&](endpoint& on, request& done) { return on.fetch_add(windows[k], 0, 16, 1, before, done); });
          mine.push_back(before);
        }
        const std::lock_guard lock(guard);
        seen.insert(seen.end(), mine.begin(), mine.end());
      });
    for (std::thread& one : crew) one.join();
  });
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(workers * each) * static_cast<std::size_t>(ranks));
  for (std::size_t k = 0; k < seen.size(); ++k) ASSERT_EQ(seen[k], static_cast<std::int64_t>(k));
}

TEST(rank_thread, workers_share_a_counter) { tickets({}, 3); }
TEST(rank_thread, workers_share_a_counter_far_away) {
  tickets({{"delay", std::string("20 us"), "test"}, {"buffer", std::int64_t{2}, "test"}}, 2);
}

TEST(rank_thread, operations_of_one_thread_start_in_their_order) {
  job j(1);
  std::vector<int> order;
  const auto make = [&](int n) { return [&order, n](endpoint&, request&) { return order.push_back(n), true; }; };
  std::vector<std::unique_ptr<call_operation<decltype(make(0))>>> all;
  for (int n = 0; n < 100; ++n) {
    all.push_back(std::make_unique<call_operation<decltype(make(0))>>(make(n)));
    j.all[0]->submit(*all.back());
  }
  for (auto& one : all) j.all[0]->wait(*one);
  for (int n = 0; n < 100; ++n) EXPECT_EQ(order[static_cast<std::size_t>(n)], n);
}

TEST(rank_thread, an_operation_without_room_is_tried_again) {
  job j(1);
  int tries = 0;
  j.all[0]->run([&](endpoint&, request&) { return ++tries == 5; });
  EXPECT_EQ(tries, 5);
}

TEST(rank_thread, a_worker_that_waits_makes_the_calls) {
  job j(1);
  const auto worker = std::this_thread::get_id();
  j.all[0]->run([&](endpoint&, request&) { return std::this_thread::get_id() == worker; });  // or it never ends
  EXPECT_EQ(j.all[0]->times_helped(), 1u);
  std::atomic<bool> other_thread{false};
  call_operation seen([&](endpoint&, request&) {
    other_thread.store(std::this_thread::get_id() != worker);
    return true;
  });
  j.all[0]->submit(seen);
  while (!seen.finished()) std::this_thread::yield();
  EXPECT_TRUE(other_thread.load()) << "the rank's own thread serves again";
}

/// While one helps, the others sleep until theirs is finished, whoever makes the calls.
TEST(rank_thread, one_worker_helps_and_others_sleep) {
  job j(1);
  std::atomic<int> ended{0};
  std::vector<std::thread> crew;
  for (int w = 0; w < 4; ++w)
    crew.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        int tries = 0;
        j.all[0]->run([&](endpoint& on, request& done) {
          if (++tries == 1) return on.wake(), false;  // something happens, so that it is tried again at once
          return on.send(0, 0, {}, {}, done);
        });
        ++ended;
      }
    });
  for (std::thread& one : crew) one.join();
  EXPECT_EQ(ended.load(), 200);
}

TEST(rank_thread, messages_come_while_nobody_calls) {
  std::atomic<int> came{0};
  job j(2, {}, [&](std::int32_t, const message_view& one) {
    came.fetch_add(static_cast<int>(one.id));
    came.notify_all();
  });
  for (std::uint32_t k = 1; k <= 10; ++k)
    j.all[0]->run([&](endpoint& on, request& done) { return on.send(1, k, {}, {}, done); });
  for (int seen = came.load(); seen != 55; seen = came.load()) came.wait(seen);
  EXPECT_EQ(came.load(), 55);
}

TEST(rank_thread, what_fails_is_thrown_where_it_is_waited_for) {
  job j(2);
  try {
    j.all[0]->run([](endpoint& on, request& done) { return on.send(9, 0, {}, {}, done); });
    FAIL() << "nothing was thrown";
  } catch (const error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("rank 9"));
  }
  j.all[1]->run([](endpoint& on, request&) { return on.lose(), true; });
  EXPECT_THROW(j.all[0]->run([](endpoint& on, request& done) { return on.barrier(done), true; }), rank_lost);
  EXPECT_THROW(j.all[1]->run([](endpoint& on, request& done) { return on.barrier(done), true; }), rank_lost);
}

TEST(rank_thread, the_end_of_the_job_ends_every_wait) {
  job j(3);
  std::atomic<int> ended{0};
  j.for_all([&](std::size_t k) {
    try {
      if (k == 0) j.all[0]->run([](endpoint& on, request&) { return on.abort(4, "enough"), true; });
      j.all[k]->run([](endpoint& on, request& done) { return on.barrier(done), true; });
    } catch (const job_ended& failure) {
      EXPECT_THAT(failure.message(), HasSubstr("enough"));
      ++ended;
    }
  });
  EXPECT_EQ(ended.load(), 3);
}

TEST(rank_thread, what_a_receiver_throws_ends_the_service) {
  job j(2, {}, [](std::int32_t rank, const message_view&) {
    if (rank == 1) throw std::runtime_error("unreadable");
  });
  j.all[0]->run([](endpoint& on, request& done) { return on.send(1, 0, {}, {}, done); });
  const auto ask = [&] { j.all[1]->run([](endpoint&, request&) { return true; }); };
  EXPECT_THROW(
      {
        for (int k = 0; k < 1000000; ++k) ask();
      },
      std::runtime_error);
  EXPECT_THROW(ask(), std::runtime_error) << "and stays so";
}

TEST(rank_thread, what_opening_throws_comes_out_of_the_constructor) {
  const auto none = []() -> std::shared_ptr<transport> {
    return std::make_shared<transport>(transport_options{.directories = {}, .name = "nothing"});
  };
  EXPECT_THROW(rank_thread(none, 0, [](const message_view&) {}), error);
}

TEST(rank_thread, may_end_with_operations_under_way) {
  auto done = std::make_unique<call_operation<std::function<bool(endpoint&, request&)>>>(
      [](endpoint& on, request& r) { return on.barrier(r), true; });
  {
    job j(2);
    j.all[0]->submit(*done);
    j.all[1]->run([](endpoint&, request&) { return true; });
  }
  EXPECT_FALSE(done->finished());
}

}  // namespace
