// The contract of exchange, for two threads of one process and for two processes.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/exchange/local_generation.hpp"
#include "languages/sial/exchange/socket_exchange.hpp"
#include "languages/sial/exchange/socket_hub.hpp"
#include "languages/sial/exchange/thread_exchange.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::sial {
namespace {

using body = std::function<void(exchange& of, unsigned worker)>;

/// As the interpreter does: what a worker throws makes the others stop.
void work(exchange& of, unsigned worker, const body& what) {
  try {
    what(of, worker);
  } catch (const given_up&) {
  } catch (...) {
    of.fail(std::current_exception());
  }
  of.leave();
}

std::string text_of_failure(const exchange& of) {
  try {
    if (const std::exception_ptr why = of.failure()) std::rethrow_exception(why);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/// Two threads.
std::string by_threads(const body& what) {
  runtime rt(testing::host_only(2));
  thread_exchange both(rt, 2, false);
  {
    std::jthread other([&] { work(both, 1, what); });
    work(both, 0, what);
    const runtime::waiting_elsewhere joining(rt);
    other.join();
  }
  return text_of_failure(both);
}

/// Two processes: what the child expects in vain is seen by its exit code.
std::string by_processes(const body& what) {
  int sockets[2][2];
  for (auto& pair : sockets)
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) ADD_FAILURE() << "no sockets";
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int s : {sockets[0][0], sockets[0][1], sockets[1][0]}) ::close(s);
    {
      runtime rt(testing::host_only(1));
      socket_exchange mine(rt, sockets[1][1], 1, 2, false);
      work(mine, 1, what);
    }
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(sockets[1][1]);
  std::string failure;
  {
    runtime rt(testing::host_only(1));
    const socket_hub hub({sockets[0][0], sockets[1][0]}, false);
    socket_exchange mine(rt, sockets[0][1], 0, 2, false);
    work(mine, 0, what);
    failure = text_of_failure(mine);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "see what the other process printed";
  return failure;
}

class exchange_contract : public ::testing::TestWithParam<std::string (*)(const body&)> {
 protected:
  /// What has failed, as worker 0 is told; "" when nothing has.
  static std::string run(const body& what) { return GetParam()(what); }
};

void store(array_generation& to, std::int64_t ordinal, store_kind how, std::vector<double> values) {
  shared_block& b = to.begin_store(ordinal, shape{static_cast<std::int64_t>(values.size())}, how);
  const std::lock_guard guard(b.lock);
  if (how == store_kind::add && b.written) {
    auto all = b.elements.update();
    for (std::int64_t k = 0; k < all.size(); ++k) all[k] += values[static_cast<std::size_t>(k)];
  } else {
    auto all = b.elements.write();
    std::copy(values.begin(), values.end(), all.begin());
  }
  b.written = true;
  to.end_store(ordinal, b, how, 1);
}

std::vector<double> fetch(array_generation& from, std::int64_t ordinal) {
  shared_block* const b = from.find(ordinal);
  if (b == nullptr) return {};
  const auto all = b->elements.read();
  return {all.begin(), all.end()};
}

using numbers = std::vector<double>;

/// One for all workers of a process; `shared` is the test's, of which each process has its own.
array_generation& make(exchange& of, std::shared_ptr<array_generation>& shared, const char* name,
                       const std::shared_ptr<array_generation>& base = nullptr) {
  of.barrier(1000, [&] { shared = of.make_array(name, {4}, base); });
  of.barrier(1001);
  return *shared;
}
/// Before the runtime does.
void end(exchange& of, std::shared_ptr<array_generation>& shared) {
  of.barrier(1002, [&] { shared.reset(); });
  of.barrier(1003);
}

TEST_P(exchange_contract, what_one_stores_all_find_behind_the_next_barrier) {
  std::shared_ptr<array_generation> shared;
  EXPECT_EQ(run([&shared](exchange& of, unsigned worker) {
              array_generation* const a = &make(of, shared, "a");
              EXPECT_EQ(fetch(*a, 0), numbers{}) << "nobody has written it";
              of.barrier(2);
              store(*a, worker, store_kind::replace, {1.0 + worker, 2.0});
              of.barrier(3);
              EXPECT_EQ(fetch(*a, 0), (numbers{1, 2}));
              EXPECT_EQ(fetch(*a, 1), (numbers{2, 2}));
              EXPECT_EQ(a->ordinals(), (std::vector<std::int64_t>{0, 1}));
              of.barrier(4);
              if (worker == 1) store(*a, 0, store_kind::replace, {7, 8});
              of.barrier(5);
              EXPECT_EQ(fetch(*a, 0), (numbers{7, 8})) << "not as it was found before";
              end(of, shared);
            }),
            "");
}

TEST_P(exchange_contract, what_all_add_is_summed) {
  std::shared_ptr<array_generation> shared;
  EXPECT_EQ(run([&shared](exchange& of, unsigned worker) {
              array_generation* const a = &make(of, shared, "a");
              for (int k = 0; k < 100; ++k) store(*a, 1, store_kind::add, {1.0, 10.0 * worker});
              of.barrier(2);
              EXPECT_EQ(fetch(*a, 1), (numbers{200, 1000}));
              end(of, shared);
            }),
            "");
}

TEST_P(exchange_contract, a_deleted_array_is_empty_for_all) {
  std::shared_ptr<array_generation> shared;
  EXPECT_EQ(run([&shared](exchange& of, unsigned worker) {
              make(of, shared, "a");
              std::shared_ptr<array_generation> a = shared;
              if (worker == 0) store(*a, 0, store_kind::replace, {1});
              of.barrier(1);
              a = a->next();
              of.barrier(2);
              EXPECT_EQ(fetch(*a, 0), numbers{});
              of.barrier(3);
              if (worker == 1) store(*a, 0, store_kind::replace, {2});
              of.barrier(4);
              EXPECT_EQ(fetch(*a, 0), numbers{2}) << "both are in the same one";
              a.reset();
              end(of, shared);
            }),
            "");
}

TEST_P(exchange_contract, an_array_reads_its_base_and_leaves_it_alone) {
  std::shared_ptr<array_generation> base, a;
  EXPECT_EQ(run([&base, &a](exchange& of, unsigned worker) {
              make(of, base, "a");
              if (worker == 0) store(*base, 0, store_kind::replace, {1}), store(*base, 1, store_kind::replace, {2});
              of.barrier(1);
              make(of, a, "a", base);
              EXPECT_EQ(a->kept(a), base) << "nothing was written to it";
              of.barrier(2);
              if (worker == 1) store(*a, 0, store_kind::add, {10}), store(*a, 2, store_kind::replace, {3});
              of.barrier(3);
              EXPECT_EQ(a->kept(a), a);
              EXPECT_EQ(fetch(*a, 0), numbers{11});
              EXPECT_EQ(fetch(*a, 1), numbers{2});
              EXPECT_EQ(a->ordinals(), (std::vector<std::int64_t>{0, 1, 2}));
              EXPECT_EQ(fetch(*base, 0), numbers{1});
              of.barrier(4);
              end(of, a);
              end(of, base);
            }),
            "");
}

TEST_P(exchange_contract, values_pass_at_barriers) {
  EXPECT_EQ(run([](exchange& of, unsigned worker) {
              EXPECT_EQ(of.size(), 2u);
              EXPECT_EQ(of.sum(worker, 1, worker == 0 ? 0.1 : 0.2), 0.1 + 0.2);
              EXPECT_EQ(of.of_first(worker, 2, worker == 0 ? 5.0 : 6.0), 5.0);
              numbers values(worker == 1 ? 3 : 0, 4.0);
              of.broadcast(worker, 3, 1, values);
              EXPECT_EQ(values, (numbers{4, 4, 4}));
            }),
            "");
}

TEST_P(exchange_contract, what_the_last_one_does_is_done_before_any_goes_on) {
  std::atomic<int> done{0};
  EXPECT_EQ(run([&done](exchange& of, unsigned) {
              for (int round = 1; round <= 50; ++round) {
                of.barrier(1, [&] { ++done; });
                EXPECT_EQ(done, round);
                of.barrier(2);
              }
            }),
            "");
}

TEST_P(exchange_contract, iterations_are_shared_out_once_each) {
  EXPECT_EQ(run([](exchange& of, unsigned worker) {
              for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
                const auto loop = of.schedule(sequence, 7, 1000);
                EXPECT_EQ(of.latest(), loop);
                double mine = 0, of_all = 0;
                for (;;) {
                  const auto [begin, end] = loop->take(worker);
                  if (begin == end) break;
                  for (std::int64_t k = begin; k < end; ++k) mine += static_cast<double>(k), ++of_all;
                }
                EXPECT_EQ(of.sum(worker, 1, mine), 999.0 * 1000 / 2);
                EXPECT_EQ(of.sum(worker, 2, of_all), 1000.0);
              }
            }),
            "");
}

TEST_P(exchange_contract, another_barrier_is_a_mistake) {
  const std::string why = run([](exchange& of, unsigned worker) { of.barrier(10 + worker); });
  EXPECT_NE(why.find("other workers wait in another statement"), why.npos) << why;
}

TEST_P(exchange_contract, another_pardo_is_a_mistake) {
  const std::string why = run([](exchange& of, unsigned worker) {
    const auto loop = of.schedule(0, worker, 100);
    while (loop->take(worker) != std::pair<std::int64_t, std::int64_t>(0, 0) && !of.failed()) of.barrier(1);
  });
  EXPECT_NE(why.find("another worker has reached another pardo"), why.npos) << why;
}

TEST_P(exchange_contract, who_waits_for_one_that_has_ended_is_told) {
  const std::string why = run([](exchange& of, unsigned worker) {
    if (worker == 0) of.barrier(1);
  });
  EXPECT_TRUE(why.find("has ended while others wait for it") != why.npos ||
              why.find("other workers have ended") != why.npos)
      << why;
}

TEST_P(exchange_contract, a_failure_without_a_text_makes_the_others_stop_too) {
  const std::string why = run([](exchange& of, unsigned worker) {
    if (worker == 1) throw run_error("");
    for (;;) of.barrier(1);
  });
  EXPECT_TRUE(why.empty() || why.find("without a text") != why.npos) << why;  // in its own process it is as it was
}

TEST_P(exchange_contract, a_failure_makes_the_others_stop_and_is_told) {
  const std::string why = run([](exchange& of, unsigned worker) {
    if (worker == 1) throw run_error("no convergence");
    for (;;) of.barrier(1);
  });
  EXPECT_NE(why.find("no convergence"), why.npos) << why;
}

TEST_P(exchange_contract, a_failure_is_told_to_who_has_nothing_more_to_ask) {
  const std::string why = run([](exchange&, unsigned worker) {
    if (worker == 1) throw run_error("no convergence");
  });
  EXPECT_NE(why.find("no convergence"), why.npos) << why;
}

INSTANTIATE_TEST_SUITE_P(by, exchange_contract, ::testing::Values(&by_threads, &by_processes),
                         [](const auto& about) { return about.index == 0 ? "threads" : "processes"; });

TEST(socket_exchange, an_array_of_one_process_is_no_base) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  runtime rt(testing::host_only(1));
  const socket_hub hub({pair[0]}, false);
  socket_exchange mine(rt, pair[1], 0, 1, false);
  const auto restored = std::make_shared<local_generation>(rt, "a", std::vector<std::int64_t>{4});
  EXPECT_THROW((void)mine.make_array("a", {4}, restored), run_error);
  EXPECT_NO_THROW((void)mine.make_array("a", {4}, nullptr));
}

TEST(socket_exchange, a_process_that_dies_is_a_failure_of_the_run) {
  int sockets[2][2];
  for (auto& pair : sockets) ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(3);
  ::close(sockets[1][1]);
  {
    runtime rt(testing::host_only(1));
    const socket_hub hub({sockets[0][0], sockets[1][0]}, false);
    socket_exchange mine(rt, sockets[0][1], 0, 2, false);
    work(mine, 0, [](exchange& of, unsigned) { of.barrier(1); });
    EXPECT_EQ(text_of_failure(mine), "another worker has failed: the process of worker 1 has ended");
  }
  ::waitpid(child, nullptr, 0);
}

TEST(socket_exchange, a_slow_process_gets_the_arrays_that_a_fast_one_has_begun) {
  int done[2];
  ASSERT_EQ(::pipe(done), 0);
  EXPECT_EQ(by_processes([&done](exchange& of, unsigned worker) {
              char byte = 0;
              if (worker == 1) {
                EXPECT_EQ(::read(done[0], &byte, 1), 1);
              }
              std::shared_ptr<array_generation> a = of.make_array("a", {4}, nullptr);
              for (int deleted = 0; deleted < 2; ++deleted) a = a->next();
              if (worker == 0) {
                store(*a, 0, store_kind::replace, {1});
                EXPECT_EQ(::write(done[1], &byte, 1), 1);
              }
              of.barrier(1);
              EXPECT_EQ(fetch(*a, 0), numbers{1}) << worker;
            }),
            "");
  for (const int one : done) ::close(one);
}

TEST(socket_exchange, a_message_that_cannot_be_received_is_a_failure_of_the_run) {
  int sockets[2][2];
  for (auto& pair : sockets) ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const std::vector<char> wrong(4096, '\x7f');
  ASSERT_EQ(::send(sockets[1][1], wrong.data(), wrong.size(), 0), 4096);
  {
    runtime rt(testing::host_only(1));
    const socket_hub hub({sockets[0][0], sockets[1][0]}, false);
    socket_exchange mine(rt, sockets[0][1], 0, 2, false);
    work(mine, 0, [](exchange& of, unsigned) { of.barrier(1); });
    EXPECT_NE(text_of_failure(mine).find("a message of worker 1 cannot be received"), std::string::npos)
        << text_of_failure(mine);
    char byte = 0;
    EXPECT_EQ(::recv(sockets[1][1], &byte, 1, 0), 0) << "it does not wait for an answer in vain";
  }
  ::close(sockets[1][1]);
}

}  // namespace
}  // namespace tessera::sial
