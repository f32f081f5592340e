// Private copies where memory is short: what one worker computes, several compute too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

/// Tasks that add sleep a little, so that several do at the same time: what is right does not depend on it.
struct short_memory : ::testing::TestWithParam<unsigned> {
  static constexpr int additions = 12;
  runtime rt{testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\nslab_bytes = \"64 KiB\"\n",
                                 GetParam())};

  array<double> filled(const char* name, int elements) {
    auto made = rt.make_array<double>(name, {elements}, {elements});
    fill(rt, made(0), 1.0);
    return made;
  }
  void add(const auto& to) {
    for (int k = 0; k < additions; ++k)
      rt.submit(
          "add",
          [k](view<double> x) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            x[0] += 1;
            x[x.size() - 1] = k;
          },
          accumulate(to));
  }
};

INSTANTIATE_TEST_SUITE_P(workers, short_memory, ::testing::Values(1, 2, 4),
                         [](const auto& which) { return std::to_string(which.param); });

/// Room for a block and one copy of it, and for a block and two.
TEST_P(short_memory, holds_as_many_private_copies_as_find_room) {
  for (const int elements : {56'000, 40'000}) {
    auto b = filled("b", elements);
    rt.fence();
    add(b(0));
    EXPECT_EQ(b(0).read()[0], 1 + additions) << elements;
  }
}

/// Who adds waits for nobody, so the copies are there before the block is.
TEST_P(short_memory, has_room_for_a_block_whose_copies_came_first) {
  for (const int elements : {56'000, 40'000}) {
    auto gate = filled("gate", 8);
    auto b = rt.make_array<double>("b", {elements}, {elements});
    std::atomic<bool> open = false;
    rt.submit(
        "gate",
        [&open](view<double>) {
          while (!open) std::this_thread::yield();
        },
        update(gate(0)));
    rt.submit(
        "fill",
        [](view<const double>, view<double> x) {
          for (double& one : x) one = 1;
        },
        read(gate(0)), write(b(0)));
    add(b(0));
    open = true;
    EXPECT_EQ(b(0).read()[0], 1 + additions) << elements;
  }
}

/// A block of which nothing was written before, and other tasks' blocks.
TEST_P(short_memory, joins_copies_when_another_block_needs_their_room) {
  auto b = rt.make_array<double>("b", {16'000}, {16'000});  // 125 KiB
  add(b(0));
  auto large = filled("large", 90'000);  // 703 KiB: one copy beside it, and the block
  EXPECT_EQ(large(0).read()[89'999], 1);
  add(b(0));
  const auto seen = b(0).read();
  EXPECT_EQ(seen[0], 2 * additions);
}

/// Two sums at once, for each of which there is room for one copy.
TEST_P(short_memory, shares_copies_of_two_blocks) {
  auto b = filled("b", 30'000), c = filled("c", 30'000);  // 234 KiB each
  for (int k = 0; k < additions; ++k) {
    rt.submit(
        "both",
        [](view<double> x, view<double> y) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          x[0] += 1, y[0] += 2;
        },
        accumulate(b(0)), accumulate(c(0)));
    rt.submit(
        "one", [](view<double> y) { y[0] += 1; }, accumulate(c(0)));
  }
  EXPECT_EQ(b(0).read()[0], 1 + additions);
  EXPECT_EQ(c(0).read()[0], 1 + 3 * additions);
}

/// Of the program's own: the value that is farther from zero.
struct farther_from_zero {
  static double identity() { return 0; }
  double operator()(double a, double b) const { return std::abs(a) < std::abs(b) ? b : a; }
};
struct refuses {
  static double identity() { return 0; }
  double operator()(double, double) const { throw std::runtime_error("no such pair"); }
};

TEST_P(short_memory, joins_copies_by_their_own_combination) {
  auto b = filled("b", 40'000);
  for (int k = 0; k < additions; ++k)
    rt.submit(
        "look",
        [k](view<double> x) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          x[7] = farther_from_zero{}(x[7], k % 2 == 0 ? k : -k);
        },
        accumulate(b(0), farther_from_zero{}));
  auto other = filled("other", 30'000);
  EXPECT_EQ(other(0).read()[0], 1);
  EXPECT_EQ(b(0).read()[7], -(additions - 1));
}

TEST_P(short_memory, tells_a_combination_that_fails) {
  auto b = filled("b", 40'000);
  rt.fence();
  for (int k = 0; k < additions; ++k)
    rt.submit(
        "look",
        [](view<double> x) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          x[0] = 3;
        },
        accumulate(b(0), refuses{}));
  try {  // for which there may be no room now
    auto other = filled("other", 30'000);
    rt.fence();
  } catch (const error&) {
  }
  EXPECT_THAT(error_of([&] { (void)b(0).read(); }).what(), HasSubstr("no such pair"));
}

/// Four blocks and a copy of each are what one worker needs, and nearly all that there is.
TEST_P(short_memory, computes_what_one_thread_does_in_random_programs) {
  constexpr int elements = 14'000, blocks = 4;  // 109 KiB each
  const std::uint64_t seed = testing::number_from("TESSERA_SEED", std::random_device{}());
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  auto x = rt.make_array<double>("x", {blocks * elements}, {elements});
  std::vector<double> expected(blocks, 1.0);
  for (int b = 0; b < blocks; ++b) fill(rt, x(b), 1.0);
  for (int round = 0; round < 40; ++round) {
    const int from = static_cast<int>(random() % blocks), to = static_cast<int>(random() % blocks);
    if (from != to) {
      rt.submit(
          "copy",
          [](view<const double> source, view<double> target) {
            for (double& one : target) one = source[0];
          },
          read(x(from)), write(x(to)));
      expected[to] = expected[from];
    }
    for (int k = 0; k < 10; ++k) {
      const int b = static_cast<int>(random() % blocks), c = static_cast<int>(random() % blocks);
      if (b != c) {
        rt.submit(
            "both", [](view<double> one, view<double> other) { one[0] += 1, other[0] += 2; }, accumulate(x(b)),
            accumulate(x(c)));
        expected[b] += 1, expected[c] += 2;
        continue;
      }
      rt.submit(
          "add",
          [](view<double> all) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            all[0] += 1;
          },
          accumulate(x(b)));
      expected[b] += 1;
    }
    for (int b = 0; b < blocks; ++b) ASSERT_EQ(x(b).read()[0], expected[b]) << b;
  }
}

}  // namespace
}  // namespace tessera
