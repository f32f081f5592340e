// Accumulates with other operations than addition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

/// Of the program's own: the value that is farther from zero.
struct farther {
  static double identity() { return 0; }
  double operator()(double a, double b) const { return std::abs(a) < std::abs(b) ? b : a; }
};
struct bits {
  static std::uint8_t identity() { return 0; }
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return a | b; }
};

double value(int k) { return (k * 7919 % 2003) - 1000.5; }
constexpr int number_of_looks = 500;

struct found {
  double least, most, farthest;
  bool operator==(const found&) const = default;
};
found expected() {
  found all{1e300, -1e300, 0};
  for (int k = 0; k < number_of_looks; ++k)
    all = {std::min(all.least, value(k)), std::max(all.most, value(k)), farther{}(all.farthest, value(k))};
  return all;
}

void submit_all(runtime& rt, array<double>& least, array<double>& most, array<double>& farthest) {
  for (int k = 0; k < number_of_looks; ++k)
    rt.submit(
        "look",
        [k](view<double> low, view<double> high, view<double> far) {
          low[0] = std::min(low[0], value(k));
          high[0] = std::max(high[0], value(k));
          far[0] = farther{}(far[0], value(k));
        },
        accumulate(least(0), minimum), accumulate(most(0), maximum), accumulate(farthest(0), farther{}));
}

found values_of(runtime& rt, bool recorded = false) {
  auto least = rt.make_array<double>("least", {1}, {1}), most = rt.make_array<double>("most", {1}, {1}),
       farthest = rt.make_array<double>("farthest", {1}, {1});
  if (recorded) {
    recording r = rt.record([&] { submit_all(rt, least, most, farthest); });
    for (int k = 0; k < 3; ++k) rt.replay(r);
  } else {
    submit_all(rt, least, most, farthest);
  }
  return {least.read_host(least(0))[0], most.read_host(most(0))[0], farthest.read_host(farthest(0))[0]};
}

TEST(accumulate, minimum_maximum_and_an_operation_of_ones_own) {
  for (const unsigned workers : {1u, 2u, 4u}) {
    runtime rt(testing::host_only(workers));
    EXPECT_EQ(values_of(rt), expected());
    EXPECT_EQ(values_of(rt, true), expected());
  }
  runtime in_order(testing::machine_of("plugins = [\"host\"]\ndeterministic = true\n", 2));
  EXPECT_EQ(values_of(in_order), expected());
  runtime watched(testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2));
  EXPECT_EQ(values_of(watched), expected());
  EXPECT_NO_THROW(watched.fence());
}

TEST(accumulate, where_there_are_devices_copies_are_combined_on_the_host) {
  runtime rt(testing::with_sims(1, "64 KiB"));
  EXPECT_EQ(values_of(rt), expected());
  EXPECT_EQ(values_of(rt, true), expected());
  // Copies on a device begin with the identity, too: there axpy adds to what is no zero.
  auto x = rt.make_array<double>("x", {16}, {16}), most = rt.make_array<double>("most", {16}, {16});
  fill(rt, x(0), 1);
  fill(rt, most(0), 5);
  for (int k = 0; k < 4; ++k)
    rt.submit_operation(*rt.builtin().axpy, operation::axpy_arguments{1.0}, {read(x(0)), accumulate(most(0), maximum)},
                        {.at = rt.at("sim0")});
  EXPECT_EQ(most.read_host(most(0))[3], 5) << "minus infinity plus something";
}

TEST(accumulate, the_block_takes_part_with_what_it_had) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<std::int32_t>("x", {2}, {2});
  fill(rt, x(0), 7);
  for (int k = 0; k < 10; ++k)
    rt.submit(
        "low", [k](view<std::int32_t> v) { v[0] = std::min(v[0], k + 3), v[1] = std::min(v[1], k + 100); },
        accumulate(x(0), minimum));
  const auto seen = x.read_host(x(0));
  EXPECT_EQ(seen[0], 3);
  EXPECT_EQ(seen[1], 7);
}

TEST(accumulate, another_operation_sees_what_the_one_before_it_made) {
  for (const bool recorded : {false, true})
    for (const char* const more : {"", "deterministic = true\n", "validate = true\n"}) {
      runtime rt(testing::machine_of(std::string("plugins = [\"host\"]\n") + more, 2));
      auto x = rt.make_array<double>("x", {1}, {1});
      const auto all = [&] {
        fill(rt, x(0), 1);
        for (int k = 0; k < 20; ++k)
          rt.submit(
              "add", [](view<double> v) { v[0] += 1; }, accumulate(x(0)));
        for (int k = 0; k < 20; ++k)
          rt.submit(
              "cap", [k](view<double> v) { v[0] = std::min(v[0], 10.0 + k); }, accumulate(x(0), minimum));
        for (int k = 0; k < 20; ++k)
          rt.submit(
              "add", [](view<double> v) { v[0] += 1; }, accumulate(x(0)));
      };
      if (recorded) {
        recording r = rt.record(all);
        rt.replay(r), rt.replay(r);
      } else {
        all();
      }
      EXPECT_EQ(x.read_host(x(0))[0], 30) << "21, at most 10, and 20 more";
    }
}

TEST(accumulate, blocks_of_bytes_have_operations_though_no_sums) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<std::uint8_t>("x", {3}, {3});
  for (int k = 0; k < 8; ++k)
    rt.submit(
        "set", [k](view<std::uint8_t> v) { v[k % 3] |= static_cast<std::uint8_t>(1 << k); }, accumulate(x(0), bits{}));
  const auto seen = x.read_host(x(0));
  EXPECT_EQ(seen[0], 1 | 8 | 64);
  EXPECT_EQ(seen[1], 2 | 16 | 128);
  EXPECT_EQ(seen[2], 4 | 32);
}

TEST(accumulate, a_part_that_fails_and_two_ways_in_one_task) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {1}, {1});
  fill(rt, x(0), 0);
  rt.submit(
      "low", [](view<double>) { throw std::runtime_error("no luck"); }, accumulate(x(0), minimum));
  rt.submit(
      "low", [](view<double> v) { v[0] = 3; }, accumulate(x(0), minimum));
  EXPECT_THAT(error_of([&] { (void)x.read_host(x(0)); }).what(), HasSubstr("no luck"));
  fill(rt, x(0), 0);
  EXPECT_THAT(error_of([&] {
                rt.submit(
                    "both", [](view<double>, view<double>) {}, accumulate(x(0)), accumulate(x(0), minimum));
              }).what(),
              HasSubstr("task 'both' accumulates into x(0) with two operations"));
}

}  // namespace
}  // namespace tessera
