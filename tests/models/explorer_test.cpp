// The explorer is right about the well-known small programs: it finds what the memory model allows, and only that.
#include "tests/models/explorer.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "core/base/atomic.hpp"
#include "core/base/fence.hpp"
#include "tests/models/orders.hpp"

namespace tessera::models {
namespace {

using outcomes = std::set<std::vector<int>>;

/// What a program of several threads over the variables x and y can leave in the registers r.
struct memory {
  atomic<int> x{0}, y{0};
  std::vector<int> r = std::vector<int>(4, -1);
};
outcomes all_outcomes(std::size_t registers, const std::vector<void (*)(memory&)>& threads) {
  outcomes out;
  const report result = explore([&](scenario& s) {
    auto m = std::make_shared<memory>();
    for (void (*const body)(memory&) : threads) s.thread([m, body] { body(*m); });
    s.at_the_end(
        [&out, m, registers] { out.emplace(m->r.begin(), m->r.begin() + static_cast<std::ptrdiff_t>(registers)); });
  });
  EXPECT_TRUE(result) << result.failure;
  return out;
}

template <std::memory_order to_store, std::memory_order to_load>
outcomes store_buffering() {
  return all_outcomes(2, {[](memory& m) { m.x.store(1, to_store), m.r[0] = m.y.load(to_load); },
                          [](memory& m) { m.y.store(1, to_store), m.r[1] = m.x.load(to_load); }});
}

TEST(litmus, store_buffering_needs_sequential_consistency) {
  EXPECT_EQ((store_buffering<relaxed, relaxed>()), (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ((store_buffering<release, acquire>()), (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ((store_buffering<seq_cst, seq_cst>()), (outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(litmus, store_buffering_needs_both_fences) {
  EXPECT_EQ(all_outcomes(2, {[](memory& m) { m.x.store(1, relaxed), full_fence(), m.r[0] = m.y.load(relaxed); },
                             [](memory& m) { m.y.store(1, relaxed), full_fence(), m.r[1] = m.x.load(relaxed); }}),
            (outcomes{{0, 1}, {1, 0}, {1, 1}}));
  EXPECT_TRUE(all_outcomes(2, {[](memory& m) { m.x.store(1, relaxed), full_fence(), m.r[0] = m.y.load(relaxed); },
                               [](memory& m) { m.y.store(1, relaxed), m.r[1] = m.x.load(relaxed); }})
                  .contains({0, 0}));
}

TEST(litmus, a_sequential_exchange_is_no_fence) {
  // The relaxed load may go before the exchange's store, as it does on AArch64; a sequential load may not.
  EXPECT_TRUE(all_outcomes(2, {[](memory& m) { m.x.exchange(1, seq_cst), m.r[0] = m.y.load(relaxed); },
                               [](memory& m) { m.y.store(1, relaxed), full_fence(), m.r[1] = m.x.load(relaxed); }})
                  .contains({0, 0}));
  EXPECT_FALSE(all_outcomes(2, {[](memory& m) { m.x.exchange(1, seq_cst), m.r[0] = m.y.load(seq_cst); },
                                [](memory& m) { m.y.store(1, relaxed), full_fence(), m.r[1] = m.x.load(relaxed); }})
                   .contains({0, 0}));
}

template <std::memory_order to_store, std::memory_order to_load>
outcomes message_passing() {
  return all_outcomes(2, {[](memory& m) { m.x.store(1, relaxed), m.y.store(1, to_store); },
                          [](memory& m) { m.r[0] = m.y.load(to_load), m.r[1] = m.x.load(relaxed); }});
}

TEST(litmus, message_passing_needs_release_and_acquire) {
  const outcomes ordered = {{0, 0}, {0, 1}, {1, 1}};
  const outcomes all = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ((message_passing<release, acquire>()), ordered);
  EXPECT_EQ((message_passing<relaxed, acquire>()), all);
  EXPECT_EQ((message_passing<release, relaxed>()), all);
  EXPECT_EQ(all_outcomes(
                2, {[](memory& m) { m.x.store(1, relaxed), perform_fence(release), m.y.store(1, relaxed); },
                    [](memory& m) { m.r[0] = m.y.load(relaxed), perform_fence(acquire), m.r[1] = m.x.load(relaxed); }}),
            ordered);
}

TEST(litmus, a_release_sequence_goes_on_through_exchanges_and_ends_at_a_store) {
  EXPECT_FALSE(all_outcomes(2, {[](memory& m) { m.x.store(1, relaxed), m.y.store(1, release); },
                                [](memory& m) { m.y.fetch_add(1, relaxed); },
                                [](memory& m) { m.r[0] = m.y.load(acquire), m.r[1] = m.x.load(relaxed); }})
                   .contains({2, 0}));
  EXPECT_TRUE(all_outcomes(2, {[](memory& m) { m.x.store(1, relaxed), m.y.store(1, release), m.y.store(2, relaxed); },
                               [](memory& m) { m.r[0] = m.y.load(acquire), m.r[1] = m.x.load(relaxed); }})
                  .contains({2, 0}));
}

template <std::memory_order to_store, std::memory_order to_load>
outcomes independent_readers() {
  return all_outcomes(4, {[](memory& m) { m.x.store(1, to_store); }, [](memory& m) { m.y.store(1, to_store); },
                          [](memory& m) { m.r[0] = m.x.load(to_load), m.r[1] = m.y.load(to_load); },
                          [](memory& m) { m.r[2] = m.y.load(to_load), m.r[3] = m.x.load(to_load); }});
}

TEST(litmus, independent_readers_may_disagree_unless_all_is_sequential) {
  EXPECT_TRUE((independent_readers<release, acquire>().contains({1, 0, 1, 0})));
  EXPECT_FALSE((independent_readers<seq_cst, seq_cst>().contains({1, 0, 1, 0})));
}

TEST(litmus, one_location_is_coherent) {
  const outcomes seen = all_outcomes(
      3, {[](memory& m) { m.x.store(1, relaxed), m.x.store(2, relaxed); },
          [](memory& m) { m.r[0] = m.x.load(relaxed), full_fence(), m.r[1] = m.x.load(relaxed), m.r[2] = 0; }});
  EXPECT_FALSE(seen.contains({2, 1, 0}));
  EXPECT_FALSE(seen.contains({1, 0, 0}));
  EXPECT_TRUE(seen.contains({0, 2, 0}));
}

TEST(litmus, stores_of_two_threads_to_two_locations_may_end_crosswise) {
  outcomes ends;
  const report result = explore([&](scenario& s) {
    auto m = std::make_shared<memory>();
    s.thread([m] { m->x.store(1, relaxed), m->y.store(2, relaxed); });
    s.thread([m] { m->y.store(1, relaxed), m->x.store(2, relaxed); });
    s.at_the_end([m, &ends] { ends.insert({m->x.load(), m->y.load()}); });
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(ends, (outcomes{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
}

TEST(litmus, no_value_is_read_before_it_is_written) {  // what the explorer leaves out; see the README
  EXPECT_FALSE(all_outcomes(2, {[](memory& m) { m.r[0] = m.x.load(relaxed), m.y.store(1, relaxed); },
                                [](memory& m) { m.r[1] = m.y.load(relaxed), m.x.store(1, relaxed); }})
                   .contains({1, 1}));
}

TEST(litmus, additions_are_never_lost) {
  const report result = explore([&](scenario& s) {
    auto m = std::make_shared<memory>();
    for (int t = 0; t < 3; ++t) s.thread([m] { m->x.fetch_add(1, relaxed); });
    s.at_the_end([m] { require(m->x.load() == 3, "three additions"); });
  });
  EXPECT_TRUE(result) << result.failure;
  EXPECT_GT(result.executions, 5u) << "each order of three";
}

TEST(explorer, finds_a_data_race_and_takes_an_ordered_pair_for_none) {
  for (const std::memory_order order : {acq_rel, relaxed}) {
    const report result = explore([&](scenario& s) {
      struct shared {
        plain<int> data;
        atomic<int> flag{0};
      };
      auto m = std::make_shared<shared>();
      s.thread([m, order] { m->data.set(1), m->flag.exchange(1, order); });
      s.thread([m, order] {
        if (m->flag.exchange(2, order) == 1) require(m->data.get() == 1, "the data are there");
      });
    });
    EXPECT_EQ(result.complete, order == acq_rel) << result.failure;
    EXPECT_EQ(result.failure.starts_with("data race"), order == relaxed) << result.failure;
  }
}

TEST(explorer, finds_a_thread_that_is_never_woken_and_shows_the_way_there) {
  const report result = explore([&](scenario& s) {
    auto m = std::make_shared<memory>();
    s.thread([m] {
      if (m->y.load(acquire) == 0) m->x.wait(0, acquire);
    });
    s.thread([m] { m->x.notify_one(), m->y.store(1, release); });  // the value that is waited for never changes
  });
  EXPECT_FALSE(result);
  EXPECT_NE(result.failure.find("could wake them\n  thread "), std::string::npos) << result.failure;
}

TEST(explorer, a_loop_that_looks_again_ends_when_there_is_something_new) {
  const report result = explore([&](scenario& s) {
    auto m = std::make_shared<memory>();
    s.thread([m] {
      while (m->x.load(acquire) == 0) continue;
      require(m->y.load(relaxed) == 1, "what came before");
    });
    s.thread([m] { m->y.store(1, relaxed), m->x.store(1, release); });
  });
  EXPECT_TRUE(result) << result.failure;
}

/// A program of two or three threads on two locations, of a few operations with any orders.
struct random_litmus {
  struct step {
    int what, where, order, value;
  };
  std::vector<std::vector<step>> threads;
  explicit random_litmus(std::mt19937& random) : threads(2 + random() % 2) {
    int value = 0;
    for (auto& thread : threads)
      for (std::size_t k = 2 + random() % (threads.size() == 2 ? 3 : 1); k > 0; --k)
        // a third load in a row would wait for something newer
        thread.push_back({static_cast<int>(thread.size() >= 2 ? 2 + random() % 3 : random() % 5),
                          static_cast<int>(random() % 2), static_cast<int>(random() % 3), ++value});
  }
  /// What its loads and exchanges can read, and what is there at the end, in all executions.
  outcomes seen(bool everything, std::uint64_t& out_executions) const {
    constexpr std::memory_order loads[] = {relaxed, acquire, seq_cst}, stores[] = {relaxed, release, seq_cst},
                                both[] = {relaxed, acq_rel, seq_cst};
    outcomes out;
    const report result = explore(
        [&](scenario& s) {
          struct shared : memory {
            std::vector<std::vector<int>> read;
          };
          auto m = std::make_shared<shared>();
          m->read.resize(threads.size());
          for (std::size_t t = 0; t < threads.size(); ++t)
            s.thread([m, t, &steps = threads[t], &loads, &stores, &both] {
              for (const step& o : steps) {
                atomic<int>& v = o.where == 0 ? m->x : m->y;
                if (o.what < 2)
                  m->read[t].push_back(v.load(loads[o.order]));
                else if (o.what == 2)
                  v.store(o.value, stores[o.order]);
                else if (o.what == 3)
                  m->read[t].push_back(v.exchange(o.value, both[o.order]));
                else
                  full_fence();
              }
            });
          s.at_the_end([m, &out] {
            std::vector<int> all{m->x.load(), m->y.load()};
            for (const auto& r : m->read) all.insert(all.end(), r.begin(), r.end());
            out.insert(all);
          });
        },
        {.max_executions = 20'000'000, .everything = everything});
    EXPECT_TRUE(result) << result.failure;
    out_executions += result.executions;
    return out;
  }
};

TEST(explorer, leaves_out_nothing_that_is_different) {
  const char* const given = std::getenv("TESSERA_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::printf("seed %u (TESSERA_SEED)\n", seed);
  std::mt19937 random(seed);
  std::uint64_t all = 0, some = 0;
  for (int k = 0; k < 300; ++k) {
    const random_litmus program(random);
    EXPECT_EQ(program.seen(true, all), program.seen(false, some)) << "program " << k;
  }
  EXPECT_LT(3 * some, all) << "and leaves out much";
}

TEST(explorer, says_when_it_has_not_seen_everything) {
  const report result = explore(
      [&](scenario& s) {
        auto m = std::make_shared<memory>();
        for (int t = 0; t < 4; ++t) s.thread([m] { m->x.fetch_add(1), m->y.fetch_add(1); });
      },
      {.max_executions = 100});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.executions, 100u);
  EXPECT_EQ(result.failure, "");
}

}  // namespace
}  // namespace tessera::models
