// Machines with two host memories, and memory of the program that arrays adopt: there it is, wherever tasks ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "core/runtime/inside.hpp"
#include "machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

machine two_hosts(const std::string& more = "", unsigned workers = 4) {
  return testing::machine_of("plugins = [\"host\"]\nplacement = \"pinned\"\n" + more + testing::two_hosts, workers);
}
const named_space_statistics& space_of(const statistics& s, const std::string& name) {
  for (const named_space_statistics& one : s.spaces)
    if (one.name.find(name) != std::string::npos) return one;
  throw std::logic_error("no space " + name);
}
void double_all(runtime& rt, array<double>& a, const char* where) {
  for (std::size_t k = 0; k < a.size(); ++k)
    rt.submit(
        "double", {.at = rt.at(where)},
        [](view<double> x) {
          for (double& v : x) v *= 2;
        },
        update(a.block(k)));
}

TEST(two_hosts, are_two_memories_with_workers_of_their_own) {
  runtime rt(two_hosts());
  EXPECT_EQ(rt.topology_line(), "4 cores, 2 host memories, 4 workers");
  auto a = rt.make_array<double>("a", {64}, {16});
  for (std::size_t k = 0; k < a.size(); ++k) fill(rt, a.block(k), 1.0, {.at = rt.at(k % 2 == 0 ? "numa0" : "numa1")});
  rt.fence();
  const statistics s = rt.statistics();
  EXPECT_GT(space_of(s, "numa0").statistics.used_bytes, 0u);
  EXPECT_GT(space_of(s, "numa1").statistics.used_bytes, 0u);
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a.block(k).read()[3], 1.0) << k;
}

// The copy at the other node is an ordinary piece of that memory: the end of the array gave back all of the slab around
// it.
TEST(two_hosts, the_end_of_an_adopted_array_leaves_the_blocks_of_others) {
  runtime rt(two_hosts());
  auto kept = rt.make_array<double>("kept", {64}, {64});
  fill(rt, kept(0), 5.0, {.at = rt.at("numa1")});
  std::vector<double> mine(256, 1.0);
  {
    auto a = rt.adopt("mine", std::span(mine), 64);
    for (std::size_t k = 0; k < a.size(); ++k)
      rt.submit(
          "look", {.at = rt.at("numa1")}, [](view<const double>) {}, read(a.block(k)));
    rt.fence();
    EXPECT_EQ(space_of(rt.statistics(), "numa1").statistics.slabs, 1u);
  }
  rt.fence();
  EXPECT_EQ(space_of(rt.statistics(), "numa1").statistics.slabs, 1u) << "the slab is still there";
  scal(rt, 2.0, kept(0), {.at = rt.at("numa1")});
  EXPECT_EQ(kept(0).read()[63], 10.0);
}

TEST(two_hosts, copies_of_adopted_blocks_leave_a_full_memory) {
  runtime rt(two_hosts("[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\n"));
  std::vector<double> mine(512 * 64, 3.0);  // four times what a memory holds
  auto a = rt.adopt("mine", std::span(mine), 512);
  std::atomic<int> right{0};
  for (int round = 0; round < 2; ++round)
    for (std::size_t k = 0; k < a.size(); ++k)
      rt.submit(
          "look", {.at = rt.at("numa1")}, [&right](view<const double> x) { right += x[0] == 3.0 && x[511] == 3.0; },
          read(a.block(k)));
  rt.fence();
  EXPECT_EQ(right, 128);
  EXPECT_GT(space_of(rt.statistics(), "numa1").statistics.evictions, 0u);
}

// Where adopted blocks were used last. After a fence the memory of the program has their last versions.
struct place {
  const char* name;
  const char* at;
  machine (*make)();
};
void PrintTo(const place& p, std::ostream* out) { *out << p.name; }

class adopted : public ::testing::TestWithParam<place> {};

TEST_P(adopted, memory_has_the_last_versions_after_a_fence) {
  runtime rt(GetParam().make());
  std::vector<double> mine(1000);
  std::iota(mine.begin(), mine.end(), 0.0);
  auto a = rt.adopt("mine", std::span(mine), 300);
  double factor = 1;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t k = 0; k < a.size(); ++k) scal(rt, 2.0, a.block(k), {.at = rt.at(GetParam().at)});
    factor *= 2;
    rt.fence();
    for (std::size_t k = 0; k < mine.size(); ++k) ASSERT_EQ(mine[k], factor * double(k)) << "round " << round;
  }
}

TEST_P(adopted, memory_has_the_last_versions_after_the_end_of_the_array_and_a_fence) {
  runtime rt(GetParam().make());
  std::vector<double> mine(1000);
  std::iota(mine.begin(), mine.end(), 0.0);
  double factor = 1;
  for (int round = 0; round < 20; ++round) {
    {
      auto a = rt.adopt("mine", std::span(mine), 30);
      for (std::size_t k = 0; k < a.size(); ++k) scal(rt, 2.0, a.block(k), {.at = rt.at(GetParam().at)});
      for (std::size_t k = 0; k < a.size(); ++k)
        scal(rt, 3.0, a.block(k), {.at = rt.at(k % 2 == 0 ? GetParam().at : "numa0")});
    }
    factor *= 6;
    rt.fence();
    for (std::size_t k = 0; k < mine.size(); ++k)
      ASSERT_EQ(mine[k], factor * double(k)) << "round " << round << ", element " << k;
  }
  EXPECT_EQ(rt.inside().blocks.size(), 0u);
}

TEST_P(adopted, memory_has_the_sums_of_open_accumulates) {
  runtime rt(GetParam().make());
  std::vector<double> mine(60, 1.0);
  auto a = rt.adopt("mine", std::span(mine), 20);
  auto b = rt.make_array<double>("b", {20}, {20});
  fill(rt, b(0), 1.0);
  for (int round = 1; round <= 2; ++round) {
    for (std::size_t k = 0; k < a.size(); ++k)
      for (int n = 0; n < 10; ++n)
        axpy_accumulate(rt, 1.0, b(0), a.block(k), {.at = rt.at(n % 2 == 0 ? GetParam().at : "numa0")});
    rt.fence();
    for (const double v : mine) ASSERT_EQ(v, 1.0 + 10 * round);
  }
}

TEST_P(adopted, memory_has_what_a_replay_made) {
  runtime rt(GetParam().make());
  std::vector<double> mine(100, 1.0);
  auto a = rt.adopt("mine", std::span(mine), 25);
  recording doubled = rt.record([&] {
    for (std::size_t k = 0; k < a.size(); ++k) scal(rt, 2.0, a.block(k), {.at = rt.at(GetParam().at)});
  });
  for (int k = 0; k < 10; ++k) rt.replay(doubled);
  rt.fence();
  for (const double v : mine) ASSERT_EQ(v, 1024.0);
}

TEST_P(adopted, memory_keeps_what_a_failed_task_should_have_changed) {
  runtime rt(GetParam().make());
  std::vector<double> mine(40, 1.0);
  auto a = rt.adopt("mine", std::span(mine), 20);
  scal(rt, 2.0, a(0), {.at = rt.at(GetParam().at)});
  scal(rt, 2.0, a(1), {.at = rt.at(GetParam().at)});
  rt.submit(
      "explode", [](view<double>) { throw std::runtime_error("boom"); }, update(a(0)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("boom"));
  EXPECT_EQ(mine[39], 2.0) << "the other block";
  fill(rt, a(0), 7.0, {.at = rt.at(GetParam().at)});
  rt.fence();
  EXPECT_EQ(mine[0], 7.0);
}

// Others fence while arrays end: whoever is first, memory has the last version.
TEST_P(adopted, arrays_end_while_others_fence) {
  runtime rt(GetParam().make());
  std::atomic<bool> stop{false};
  std::jthread other([&] {
    while (!stop.load()) rt.fence();
  });
  std::vector<double> mine(64, 1.0);
  for (int round = 1; round <= 300 && !::testing::Test::HasFailure(); ++round) {
    {
      auto a = rt.adopt("mine", std::span(mine), 16);
      for (std::size_t k = 0; k < a.size(); ++k) scal(rt, 2.0, a.block(k), {.at = rt.at(GetParam().at)});
    }
    rt.fence();
    for (const double v : mine) EXPECT_EQ(v, std::ldexp(1.0, round));
  }
  stop.store(true);
}

INSTANTIATE_TEST_SUITE_P(
    places, adopted,
    ::testing::Values(
        place{
            "one_memory", "numa0",
            [] {
              return testing::machine_of(
                  "plugins = [\"host\"]\n[topology]\nsynthetic = \"numa:1 core:2 pu:1\"\n[plugin.host]\ndomains = 1\n",
                  2);
            }},
        place{"the_other_memory", "numa1", [] { return two_hosts(); }},
        place{"the_other_memory_deterministic", "numa1", [] { return two_hosts("deterministic = true\n"); }},
        place{"a_device", "sim0",
              [] {
                return testing::with_sims(1, "1 MiB", false, 2, "placement = \"pinned\"\n", "",
                                          "[topology]\nsynthetic = \"numa:1 core:2 pu:1\"\n");
              }},
        place{"a_small_device", "sim0",
              [] {
                return testing::with_sims(1, "12 KiB", false, 4, "placement = \"pinned\"\n", "", testing::two_hosts);
              }}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

TEST(two_hosts, views_are_taken_of_what_the_other_memory_made) {
  runtime rt(two_hosts());
  std::vector<double> mine(100, 1.0);
  auto a = rt.adopt("mine", std::span(mine), 25);
  auto b = rt.make_array<double>("b", {100}, {25});
  for (std::size_t k = 0; k < a.size(); ++k) fill(rt, b.block(k), double(k), {.at = rt.at("numa1")});
  double_all(rt, a, "numa1");
  double_all(rt, b, "numa1");
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(b.block(k).read()[24], 2.0 * double(k));
    const auto seen = a.block(k).read();
    EXPECT_EQ(seen.data(), mine.data() + 25 * k) << "views are of the program's own memory";
    EXPECT_EQ(seen[0], 2.0);
  }
  {
    auto changed = a(1).update();
    changed[3] = 50;
  }
  {
    auto written = a(2).write();
    std::ranges::fill(written, 4.0);
  }
  double_all(rt, a, "numa1");
  a.flush();
  EXPECT_EQ(mine[28], 100.0);
  EXPECT_EQ(mine[50], 8.0);
  EXPECT_EQ(mine[99], 4.0);
}

TEST(two_hosts, a_fence_moves_nothing_that_is_at_home) {
  runtime rt(two_hosts());
  std::vector<double> mine(100, 1.0);
  auto a = rt.adopt("mine", std::span(mine), 25);
  double_all(rt, a, "numa0");
  rt.fence();
  double_all(rt, a, "numa0");
  rt.fence();
  EXPECT_EQ(rt.statistics().bytes_transferred(), 0u);
  EXPECT_EQ(mine[0], 4.0);
  double_all(rt, a, "numa1");
  rt.fence();
  const std::uint64_t there_and_back = rt.statistics().bytes_transferred();
  EXPECT_EQ(there_and_back, 2 * 100 * sizeof(double));
  rt.fence();
  EXPECT_EQ(rt.statistics().bytes_transferred(), there_and_back);
}

TEST(two_hosts, arrays_kept_to_a_thread_come_home_when_they_are_flushed_or_end) {
  runtime rt(two_hosts());
  std::vector<double> mine(100, 1.0);
  {
    auto a = rt.adopt("mine", std::span(mine), 25);
    a.keep_to_this_thread();
    double_all(rt, a, "numa1");
    a.flush();
    EXPECT_EQ(mine[99], 2.0);
    double_all(rt, a, "numa1");
  }
  rt.fence();
  EXPECT_EQ(mine[0], 4.0);
}

// Random tasks on adopted blocks; the memory is compared directly after each fence.
TEST(two_hosts, random_tasks_on_adopted_memory) {
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(
      testing::with_sims(1, "32 KiB", false, 4, "placement = \"eager\"\nhistory = \"off\"\n", "", testing::two_hosts));
  constexpr int blocks = 50, each = 32;
  std::vector<double> mine(blocks * each), oracle(blocks);
  std::iota(oracle.begin(), oracle.end(), 0.0);
  for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = oracle[k / each];
  auto spare = rt.make_array<double>("spare", {8 * each}, {each});
  for (int round = 0; round < 20; ++round) {
    auto a = rt.adopt("mine", std::span(mine), each);
    for (int part = 0; part < 3; ++part) {
      for (int k = 0; k < 100; ++k) {
        const testing::random_task t = testing::random_task_on(blocks, random);
        testing::submit(rt, a, spare, t);
        testing::apply(t, oracle);
      }
      if (part == 2) {
        auto ended = std::move(a);
      }
      rt.fence();
      for (std::size_t k = 0; k < mine.size(); ++k)
        ASSERT_NEAR(mine[k], oracle[k / each], 1e-9 * (1 + std::abs(oracle[k / each])))
            << "round " << round << ", block " << k / each;
    }
  }
}

TEST(adopted_arrays, of_very_many_blocks_are_one_piece_of_memory) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  constexpr std::size_t blocks = 200'000 / testing::slow_down;
  std::vector<double> mine(2 * blocks);
  std::iota(mine.begin(), mine.end(), 0.0);
  const auto begun = std::chrono::steady_clock::now();
  {
    auto a = rt.adopt("mine", std::span(mine), 2);
    std::printf("%zu blocks adopted in %.3f s\n", blocks,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    const statistics s = rt.statistics();
    EXPECT_EQ(s.registration_misses, 1u) << "registered once";
    EXPECT_EQ(s.registered_bytes, mine.size() * sizeof(double)) << "and all of it";
    EXPECT_EQ(s.spaces.front().statistics.adopted, 1u);
    for (std::size_t k = 0; k < blocks; k += 999)
      rt.submit(
          "look", [k](view<double> x) { x[1] += x[0] == double(2 * k) ? 0.5 : 100; }, update(a.block(k)));
    rt.fence();
  }
  rt.fence();
  for (std::size_t k = 0; k < blocks; ++k) ASSERT_EQ(mine[2 * k + 1], double(2 * k + 1) + (k % 999 == 0 ? 0.5 : 0));
  EXPECT_EQ(rt.statistics().registered_bytes, 0u);
}

TEST(adopted_arrays, one_too_many_is_refused_and_harms_nothing) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  runtime rt(testing::host_only());
  std::vector<double> mine(66'000, 1.0);
  {
    std::vector<array<double>> all;
    const error refused = error_of([&] {
      for (double& one : mine) all.push_back(rt.adopt("one", std::span(&one, 1), 1));
    });
    EXPECT_EQ(refused.kind(), error_kind::memory);
    EXPECT_THAT(refused.what(), HasSubstr("65536 slabs and adopted arrays"));
    EXPECT_THAT(refused.hint(), HasSubstr("fewer and larger arrays"));
    ASSERT_GT(all.size(), 65'000u);
    rt.fence();
    all.erase(all.begin() + 7);
    rt.fence();
    all.push_back(rt.adopt("in its place", std::span(&mine[65'900], 1), 1));
    for (auto& a : all) scal(rt, 3.0, a(0));
  }
  rt.fence();
  EXPECT_EQ(std::ranges::count(mine, 3.0), 65'536 - std::ptrdiff_t(rt.statistics().spaces.front().statistics.slabs));
  EXPECT_EQ(mine[7], 1.0);
  EXPECT_EQ(mine[65'900], 3.0);
  EXPECT_EQ(rt.statistics().spaces.front().statistics.adopted, 0u);
}

}  // namespace
}  // namespace tessera
