// Where kernels of regions run: which devices take part, and how the policy auto splits loops between them and the
// host. The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

/// Devices that compile no kernels take no part, whatever the body has.
TEST(region_kernels_elsewhere, are_functions_where_nothing_compiles_them) {
  runtime rt(testing::machine_of(
      "plugins = [\"host\", \"sim\"]\n[plugin.sim]\ncompiler = \"/nowhere/cc\"\n[[plugin.sim.device]]\n"
      "memory = \"1 MiB\"\n"));
  location_model model(rt);
  auto x = model.make_array<double>("x", {100});
  model.region("one", iterate(0, 100), write(x), with_kernel([](auto i, auto x) { x[i] = 1; }, "(i, x) { x[i] = 1; }"));
  EXPECT_EQ(x.read()[99], 1.0);
  const std::vector<region_row> rows = model.regions();
  for (const region_share& s : rows.at(0).shares) EXPECT_TRUE(s.leaf.starts_with("core")) << s.leaf;
  try {
    model.region("there", {.at = "sim0"}, iterate(0, 100), with_kernel([](auto) {}, "(i) { }"));
    FAIL() << "a device without a compiler ran a kernel";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("no device at or below location 'sim0' compiles its kernel"));
  }
}

/// A thread that launches waits for the first kernel of a device, but not while any thread has a view, for which that
/// kernel may wait, and which may end when the launch is through.
TEST(region_kernels_elsewhere, are_not_waited_for_behind_the_views_of_other_threads) {
  runtime rt(testing::with_sims(1, "64 MiB", false, 2, "placement = \"eager\"\nhistory = \"off\"\n"));
  location_model model(rt);
  auto x = model.make_array<double>("x", {1000});
  const auto add = with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }");
  {
    const auto view = x.read();
    std::thread([&] { model.region("add", {.policy = policy::automatic}, iterate(0, 1000), update(x), add); }).join();
    EXPECT_EQ(view[999], 0.0);
  }
  std::thread later(
      [&] { model.region("add again", {.policy = policy::automatic}, iterate(0, 1000), update(x), add); });
  for (int k = 0; k < 100; ++k) EXPECT_GE(x.read()[0], 1.0);  // taken and given back while the other one waits
  later.join();
  EXPECT_EQ(x.read()[999], 2.0);
}

/// A body that cannot always be copied.
struct refusing_body {
  explicit refusing_body(const bool& when) : refuses(&when) {}
  refusing_body(const refusing_body& other) : refuses(other.refuses) {
    if (*refuses) throw std::length_error("not to be copied");
  }
  void operator()(auto i, auto x) const { x[i] += 1; }
  const bool* refuses;
};

/// Of a region whose first launch with a device was refused, the next one is waited for.
TEST(region_kernels_elsewhere, are_waited_for_behind_a_launch_that_was_refused) {
  runtime rt(testing::with_sims(1, "64 MiB", false, 2, "placement = \"eager\"\nhistory = \"off\"\n"));
  location_model model(rt);
  auto x = model.make_array<double>("x", {1000});
  bool refuses = false;
  const auto add = with_kernel(refusing_body(refuses), "(i, x) { x[i] += 1; }");
  const auto launch = [&](std::string_view at) {
    model.region("add", {.policy = policy::automatic, .at = at}, iterate(0, 1000), update(x), add);
  };
  launch("core0");
  refuses = true;
  EXPECT_THROW(launch(""), std::length_error);
  refuses = false;
  launch("");
  std::uint64_t ran = 0;
  for (const auto& row : rt.statistics().operations)
    if (row.operation.starts_with("region add #")) ran += row.tasks;
  EXPECT_GE(ran, 1u);
  model.fence();
  EXPECT_EQ(x.read()[999], 2.0);
}

/// Two loops over the same arrays, of which one is slow and one fast on the device: taken by themselves they would be
/// split in two ways, and move what the device has at each turn.
TEST(region_kernels_elsewhere, over_the_same_arrays_are_split_alike) {
  runtime rt(testing::machine_of(
      "plugins = [\"host\", \"sim\"]\nplacement = \"eager\"\nhistory = \"off\"\n[plugin.sim]\n[[plugin.sim.device]]\n"
      "memory = \"64 MiB\"\nkernel_speed = 0.5\n"));
  location_model model(rt);
  const std::int64_t n = 20000;
  auto x = model.make_array<double>("x", {n});
  auto y = model.make_array<double>("y", {n});
  int alike = 0;
  constexpr int rounds = 30;
  for (int k = 0; k < rounds; ++k) {
    model.region(
        "one", {.policy = policy::automatic}, iterate(0, n), write(x), update(y),
        with_kernel([](auto i, auto x, auto y) { x[i] = std::sqrt(double(i)), y[i] = x[i]; },
                    "(i, x, y) { double v = i; for (int k = 0; k < 200; ++k) v = sqrt(v + k); x[i] = sqrt((double)i); "
                    "y[i] = x[i] + 0 * v; }"));
    model.region("two", {.policy = policy::automatic}, iterate(0, n), read(x), update(y),
                 with_kernel(
                     [](auto i, auto x, auto y) {
                       double v = x[i];
                       for (int k = 0; k < 200; ++k) v = std::sqrt(v + k);
                       y[i] = x[i] + 0 * v;
                     },
                     "(i, x, y) { y[i] = x[i]; }"));
    const std::vector<region_row> rows = model.regions();
    const auto same = [](const region_share& one, const region_share& other) {
      return one.leaf == other.leaf && one.iterations == other.iterations;
    };
    alike += std::ranges::equal(rows.at(0).shares, rows.at(1).shares, same);
  }
  EXPECT_GE(alike, rounds / 3) << "each by itself: hardly ever";
  EXPECT_DOUBLE_EQ(y.read()[n - 1], std::sqrt(double(n - 1)));
}

/// A loop that is slow enough for shares to matter, on devices whose speeds are 1:3:9. Times are measured, so that it
/// takes a few launches or a few more. The slowest one does less than a fiftieth of the loop, and may be left out.
TEST(region_kernels_elsewhere, are_shared_out_by_the_speed_of_devices) {
  std::string toml = "plugins = [\"host\", \"sim\"]\nplacement = \"eager\"\nhistory = \"off\"\n[plugin.sim]\n";
  for (const char* speed : {"0.05", "0.15", "0.45"})
    toml += "[[plugin.sim.device]]\nmemory = \"16 MiB\"\nkernel_speed = " + std::string(speed) + "\n";
  runtime rt(testing::machine_of(toml));
  location_model model(rt);
  const std::int64_t n = 4000;
  auto x = model.make_array<double>("x", {n});
  std::map<std::string, std::uint64_t> shares;
  const auto in_order = [&] {
    return 2 * shares["sim0"] < shares["sim1"] + 1 && 2 * shares["sim1"] < shares["sim2"] + 1 && shares["sim1"] > 0;
  };
  for (int launch = 0; launch < 500 && !in_order(); ++launch) {
    model.region("work", {.policy = policy::automatic}, iterate(0, n), write(x),
                 with_kernel(
                     [](auto i, auto x) {
                       auto v = double(i);
                       for (int k = 0; k < 500; ++k) v = std::sqrt(v + k);
                       x[i] = v;
                     },
                     "(i, x) { double v = i; for (int k = 0; k < 500; ++k) v = sqrt(v + k); x[i] = v; }"));
    model.fence();
    shares.clear();
    for (const std::vector<region_row> rows = model.regions(); const region_share& s : rows.at(0).shares)
      shares[s.leaf] = s.iterations;
  }
  EXPECT_TRUE(in_order()) << shares["sim0"] << " " << shares["sim1"] << " " << shares["sim2"];
}

}  // namespace
}  // namespace tessera
