// Regions on devices whose arrays other regions have split in many ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

constexpr std::int64_t many_rows = 10'000;

struct regions_of_many_tiles : ::testing::Test {
  array<double> make(const std::string& name) { return model.make_array<double>(name, {many_rows}); }
  /// Elements i + `add`, by parts of other lengths each time.
  void fill(array<double>& a, int add) {
    for (int percent = 20; percent < 69; percent += 7)
      model.region("fill",
                   {.policy = region_policy::from_text("percentage:10," + std::to_string(90 - percent) + "," +
                                                       std::to_string(percent))},
                   iterate(0, many_rows), write(a),
                   with_kernel([add](auto i, auto a) { a[i] = double(i + add); }, "(i, a, v) { a[i] = i + v; }", add));
  }
  /// x[i] += i on the host, in 150 parts of a row and one of the rest: more than a kernel has parameters.
  void add_in_parts(array<double>& x) {
    std::string ones = "range:";
    for (int k = 0; k < 150; ++k) ones += "1,";
    model.region("host", {.policy = region_policy::from_text(ones + std::to_string(many_rows - 150))},
                 iterate(0, many_rows), update(x), [](auto i, auto x) { x[i] += double(i); });
  }
  runtime rt{testing::with_sims(1, "64 MiB", false, 1, "placement = \"eager\"\nhistory = \"off\"\n")};
  location_model model{rt};
};

TEST_F(regions_of_many_tiles, are_kernels_with_fewer_tiles_of_each) {
  std::array<array<double>, 7> a{make("a"), make("b"), make("c"), make("d"), make("e"), make("f"), make("g")};
  array<double> to = make("to");
  for (std::size_t k = 0; k < a.size(); ++k) fill(a[k], static_cast<int>(k));
  model.region("add", {.policy = policy::percentage({10, 20, 70})}, iterate(0, many_rows), read(a[0], whole),
               read(a[1]), read(a[2]), read(a[3]), read(a[4]), read(a[5]), read(a[6]), write(to),
               with_kernel([](auto i, auto a, auto b, auto c, auto d, auto e, auto f, auto g,
                              auto t) { t[i] = a[0] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i]; },
                           "(i, a, b, c, d, e, f, g, t) { t[i] = a[0] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i]; }"));
  const auto seen = to.read();
  for (std::int64_t i = 0; i < many_rows; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], double(6 * i + 21)) << i;
}

/// On a device, a kernel has fewer parameters than that.
TEST_F(regions_of_many_tiles, are_recorded_with_fewer_tiles_of_each) {
  array<double> x = make("x"), y = make("y");
  const auto step = [&] {
    add_in_parts(x);
    model.region("read", {.policy = policy::percentage({0, 0, 100})}, iterate(0, many_rows), read(x), update(y),
                 with_kernel([](auto i, auto x, auto y) { y[i] += x[i]; }, "(i, x, y) { y[i] += x[i]; }"));
    model.region("write", {.policy = policy::percentage({0, 0, 100})}, iterate(0, many_rows), update(x),
                 with_kernel([](auto, auto) {}, "(i, x) { x[i] += 0; }"));
  };
  recording steps = rt.record(step);
  for (int k = 0; k < 3; ++k) rt.replay(steps);
  const auto seen = y.read();
  for (std::int64_t i = 0; i < many_rows; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], double(6 * i)) << i;
}

/// A recording keeps more tiles than a kernel has parameters for: the host runs what reads them.
TEST_F(regions_of_many_tiles, are_read_beside_a_recording_that_keeps_them) {
  array<double> x = make("x"), y = make("y");
  add_in_parts(x);
  recording keeps = rt.record([&] { add_in_parts(x); });
  region_result<double> total(rt, "total");
  for (const char* policy : {"static", "any", "percentage:0,100"}) {
    model.region("read", {.policy = region_policy::from_text(policy)}, iterate(0, many_rows), read(x, whole), write(y),
                 with_kernel([](auto i, auto x, auto y) { y[i] = x[many_rows - 1 - i]; },
                             "(i, x, y, n) { y[i] = x[n - 1 - i]; }", many_rows));
    EXPECT_EQ(y.read()[many_rows - 8], 7) << policy;
    model.region("sum", {.policy = region_policy::from_text(policy)}, iterate(0, many_rows), read(x), sum(total),
                 with_kernel([](auto i, auto x, double& s) { s += x[i]; }, "(i, x, s) { s += x[i]; }"));
    EXPECT_EQ(total.get(), 0.5 * double(many_rows * (many_rows - 1))) << policy;
  }
  model.copy(x, y);
  rt.replay(keeps);
  EXPECT_EQ(y.read()[7], 7);
  EXPECT_EQ(x.read()[7], 14);
}

/// It waits for views of the array, although the region only reads it.
TEST_F(regions_of_many_tiles, count_an_exchange_of_a_recording_as_one_that_writes) {
  array<double> x = make("x"), y = make("y");
  add_in_parts(x);
  const recording keeps = rt.record([&] { add_in_parts(x); });
  recording reads = rt.record([&] {
    model.region("read", {.policy = policy::percentage({0, 0, 100})}, iterate(0, many_rows), read(x), update(y),
                 with_kernel([](auto i, auto x, auto y) { y[i] += x[i]; }, "(i, x, y) { y[i] += x[i]; }"));
  });
  ASSERT_GT(reads.size(), reads.submitted()) << "there is no exchange";
  {
    const auto first = x.rows(0, 10).read();
    rt.replay(reads);
    const error e = test_support::error_of([&] { (void)x.rows(0, 10).read(); });
    EXPECT_NE(std::string(e.what()).find("for a region that was submitted since"), std::string::npos) << e.what();
  }
  EXPECT_EQ(y.read()[9], 9);
}

/// By all leaves in equal parts, and by shares, with and without a device.
TEST(recorded_regions, are_split_over_sixteen_cores_in_several_ways) {
  const std::string cores = "[topology]\nsynthetic = \"numa:1 core:16 pu:1\"\n";
  for (const int devices : {0, 1}) {
    runtime rt(
        testing::with_sims(devices, "64 MiB", false, 16, "placement = \"eager\"\nhistory = \"off\"\n", "", cores));
    location_model model(rt);
    auto x = model.make_array<std::int64_t>("x", {many_rows}), y = model.make_array<std::int64_t>("y", {many_rows});
    const auto step = [&] {
      model.region("flat", {.policy = policy::flatten}, iterate(0, many_rows), read(y), update(x),
                   with_kernel([](auto i, auto y, auto x) { x[i] += y[i] + 1; }, "(i, y, x) { x[i] += y[i] + 1; }"));
      model.region("shares", {.policy = policy::percentage({80, 20})}, iterate(0, many_rows), read(x), update(y),
                   with_kernel([](auto i, auto x, auto y) { y[i] += x[i]; }, "(i, x, y) { y[i] += x[i]; }"));
      model.region("more", {.policy = policy::percentage({5, 95})}, iterate(0, many_rows), update(x),
                   with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }"));
    };
    std::int64_t a = 0, b = 0;
    for (const bool before : {false, true}) {
      if (before) step(), a += b + 1, b += a, a += 1;
      recording steps = rt.record(step);
      for (int k = 0; k < 3; ++k) rt.replay(steps), a += b + 1, b += a, a += 1;
    }
    const auto seen = x.read();
    EXPECT_TRUE(std::ranges::all_of(seen.elements(), [&](std::int64_t v) { return v == a; })) << devices;
  }
}

}  // namespace
}  // namespace tessera
