// Sums of accumulates: in a fixed order when that is asked for, and in pieces when memory is small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "machines.hpp"

namespace tessera {
namespace {

constexpr int summands = 203;

double summand(int k) { return std::pow(-1.7, k % 60) / (3 + k % 7); }

/// The order that runtime.deterministic promises: four copies in turn, then one after the other.
double in_turn(double before) {
  double copies[4] = {0, 0, 0, 0};
  for (int k = 0; k < summands; ++k) copies[k % 4] += summand(k);
  for (const double c : copies) before += c;
  return before;
}

/// Two sums, twice each, with tasks between that take different times.
std::pair<double, double> sums_of(runtime& rt) {
  auto x = rt.make_array<double>("x", {summands}, {1});
  auto sum = rt.make_array<double>("sum", {2}, {1});
  for (int k = 0; k < summands; ++k) fill(rt, x(k), summand(k));
  fill(rt, sum(0), 0.1);
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < summands; ++k) {
      axpy_accumulate(rt, 1.0, x(k), sum(0));
      rt.submit(
          "add",
          [k](view<const double> from, view<double> to) {
            for (int n = 0; n < k * 7919 % 1000; ++n)
              std::atomic_signal_fence(std::memory_order_seq_cst);  // it takes a while
            to[0] += from[0];
          },
          read(x(k)), accumulate(sum(1)));
    }
    rt.submit(
        "look", [](view<double> a, view<double> b) { a[0] += 1, b[0] += 1; }, update(sum(0)), update(sum(1)));
  }
  return {sum(0).read()[0], sum(1).read()[0]};
}

TEST(deterministic, sums_are_equal_to_the_last_bit_on_every_machine) {
  const double first = in_turn(in_turn(0.1) + 1) + 1, second = in_turn(in_turn(0) + 1) + 1;
  for (const int devices : {0, 1, 2})
    for (unsigned workers = 1; workers <= 8; workers += devices == 0 ? 1 : 3)
      for (const char* placement : {"locality", "eager"}) {
        const std::string keys = std::string("deterministic = true\nplacement = \"") + placement + "\"\n";
        runtime rt(devices == 0 ? testing::machine_of("plugins = [\"host\"]\n" + keys, workers)
                                : testing::with_sims(devices, "1 MiB", devices > 1, workers, keys));
        const auto [a, b] = sums_of(rt);
        EXPECT_EQ(a, first) << devices << " devices, " << workers << " workers, " << placement;
        EXPECT_EQ(b, second) << devices << " devices, " << workers << " workers, " << placement;
      }
}

TEST(deterministic, without_it_the_order_is_that_of_execution) {
  runtime rt(testing::host_only(1));  // one worker: one copy, so another order than in turn
  EXPECT_NE(sums_of(rt).first, in_turn(in_turn(0.1) + 1) + 1) << "the test above would pass without the mode";
}

TEST(deterministic, is_the_order_of_recordings) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\ndeterministic = true\n", 3));
  auto x = rt.make_array<double>("x", {summands}, {1});
  auto sum = rt.make_array<double>("sum", {2}, {1});
  for (int k = 0; k < summands; ++k) fill(rt, x(k), summand(k));
  for (int k = 0; k < 2; ++k) fill(rt, sum(k), 0.1);
  const auto add_to = [&](int where) {
    for (int k = 0; k < summands; ++k) axpy_accumulate(rt, 0.3, x(k), sum(where));
  };
  recording step = rt.record([&] { add_to(0); });
  for (int k = 0; k < 3; ++k) {
    rt.replay(step);
    add_to(1);
    (void)sum(1).read();  // a recording ends its sums, and so does this
  }
  EXPECT_EQ(sum(0).read()[0], sum(1).read()[0]);
}

TEST(deterministic, a_failed_addition_spoils_the_sum) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\ndeterministic = true\n", 2));
  auto sum = rt.make_array<double>("sum", {1}, {1});
  for (int k = 0; k < 9; ++k)
    rt.submit(
        "give",
        [k](view<double> s) {
          if (k == 5) throw std::runtime_error("boom 5");
          s[0] += k;
        },
        accumulate(sum(0)));
  EXPECT_THROW(rt.fence(), error);
  EXPECT_THROW((void)sum(0).read(), error);
  fill(rt, sum(0), 1.0);
  rt.submit(
      "give", [](view<double> s) { s[0] += 1; }, accumulate(sum(0)));
  EXPECT_EQ(sum(0).read()[0], 2.0);
}

/// Copies leave for the disk; the sum needs all of them, and the memory holds four blocks.
TEST(accumulate, sums_in_pieces_where_all_copies_together_do_not_fit) {
  for (const bool deterministic : {true, false}) {
    runtime rt(testing::machine_of(
        std::string("plugins = [\"host\", \"disk\"]\ndeterministic = ") + (deterministic ? "true" : "false") +
            "\n[memory]\nhost_limit = \"128 KiB\"\nslab_bytes = \"64 KiB\"\n[plugin.disk]\ncapacity = \"16 MiB\"\n",
        deterministic ? 1 : 6));
    constexpr std::int64_t elements = 4096;  // 32 KiB
    auto x = rt.make_array<double>("x", {8 * elements}, {elements});
    auto sum = rt.make_array<double>("sum", {2 * elements}, {elements});
    for (int k = 0; k < 8; ++k) fill(rt, x(k), double(k + 1));
    fill(rt, sum(1), 100.0);
    for (int round = 0; round < 2; ++round)
      for (int s = 0; s < 2; ++s) {
        for (int k = 0; k < 8; ++k) axpy_accumulate(rt, 1.0, x(k), sum(s));
        scal(rt, 2.0, sum(s));
      }
    rt.fence();
    const double expected[2] = {2 * (2 * 36.0 + 36), 2 * (2 * (100 + 36.0) + 36)};
    for (int s = 0; s < 2; ++s) {
      const auto seen = sum(s).read();
      for (const double v : seen) ASSERT_EQ(v, expected[s]) << (deterministic ? "deterministic " : "") << s;
    }
  }
}

}  // namespace
}  // namespace tessera
