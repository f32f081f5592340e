// Loops at devices whose memory is smaller than their arrays.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

/// A loop over ten times what a device holds.
TEST(kernels_in_small_memories, go_through_a_small_memory_in_parts) {
  runtime rt(testing::with_gpus("cuda_emulated", 1, "256 KiB", "placement = \"eager\"\nhistory = \"off\"\n"));
  location_model model(rt);
  const std::int64_t n = testing::is_slow ? 160'000 : 320'000;  // many times the memory
  auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
  region_result<double> total(rt, "total");
  const region_options there{.policy = policy::static_split, .at = "cuda_emulated0"};
  model.region("fill", there, iterate(0, n), write(x),
               with_kernel([](auto i, auto x) { x[i] = double(i % 100); }, "(i, x) { x[i] = i % 100; }"));
  model.region("mean", there, iterate(1, n - 1), read(x, halo(1)), write(y),
               with_kernel([](auto i, auto x, auto y) { y[i] = x[i - 1] + x[i + 1]; },
                           "(i, x, y) { y[i] = x[i - 1] + x[i + 1]; }"));
  model.region("total", there, iterate(1, n - 1), read(y), sum(total),
               with_kernel([](auto i, auto y, auto& s) { s += y[i]; }, "(i, y, s) { s += y[i]; }"));
  double expected = 0;
  for (std::int64_t i = 1; i < n - 1; ++i) expected += double((i - 1) % 100 + (i + 1) % 100);
  EXPECT_EQ(total.get(), expected);
  for (const std::vector<region_row> rows = model.regions(); const region_row& row : rows) {
    ASSERT_EQ(row.shares.size(), 1u);
    EXPECT_EQ(row.shares[0].leaf, "cuda_emulated0");
    EXPECT_GT(row.shares[0].tasks, 10u) << row.name;
  }
  EXPECT_GT(rt.statistics().bytes_transferred(), std::uint64_t(2 * n * 8));  // they were there, and left
}

/// Sweeps over twice what a device holds, with a fence behind each: each begins with the rows that the last one ended
/// with, so about a half of them need not come again.
TEST(kernels_in_small_memories, go_back_over_what_is_still_there) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  location_model model(rt);
  constexpr std::int64_t n = 1 << 18;  // 2 MiB
  constexpr int sweeps = 6;
  auto x = model.make_array<double>("x", {n});
  const std::uint64_t before = rt.statistics().bytes_transferred();
  for (int k = 0; k < sweeps; ++k) {
    model.region("add", {.policy = policy::static_split, .at = "sim0"}, iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] += i; }, "(i, x) { x[i] += i; }"));
    model.fence();
  }
  {
    const auto seen = x.read();
    for (std::int64_t i = 0; i < n; i += 997) ASSERT_EQ(seen[i], double(i * sweeps));
  }
  const std::uint64_t moved = rt.statistics().bytes_transferred() - before, all = 2 * n * 8;
  EXPECT_GT(moved, all) << "nothing was too large";
  EXPECT_LT(moved, sweeps * all * 4 / 5);
}

/// What all tasks read is in the memory once, so that theirs get the rest of it: with an array of just below half of
/// the memory they are not a few rows each.
TEST(kernels_in_small_memories, have_the_memory_beside_a_whole_array) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  location_model model(rt);
  constexpr std::int64_t rows = 65'000, n = 1 << 17;  // 508 KiB, 1 MiB
  auto table = model.make_array<double>("table", {rows}), y = model.make_array<double>("y", {n});
  model.region("table", iterate(0, rows), write(table), [](auto i, auto t) { t[i] = double(i); });
  model.region("look", {.policy = policy::static_split, .at = "sim0"}, iterate(0, n), read(table, whole), write(y),
               with_kernel([rows](auto i, auto t, auto y) { y[i] = t[i * 7 % rows]; },
                           "(i, t, y, rows) { y[i] = t[i * 7 % rows]; }", rows));
  {
    const auto seen = y.read();
    for (std::int64_t i = 0; i < n; i += 997) ASSERT_EQ(seen[i], double(i * 7 % rows));
  }
  for (const region_row& row : model.regions())
    if (row.name == "look") {
      ASSERT_EQ(row.shares.size(), 1u);
      EXPECT_EQ(row.shares[0].leaf, "sim0");
      EXPECT_GT(row.shares[0].tasks, 1u);
      EXPECT_LT(row.shares[0].tasks, 32u);
    }
}

/// A task that needs a whole array which is larger than the device's memory.
TEST(kernels_in_small_memories, are_run_by_the_host_where_their_arrays_do_not_fit) {
  runtime rt(testing::with_gpus("cuda_emulated", 1, "256 KiB", "placement = \"eager\"\nhistory = \"off\"\n"));
  location_model model(rt);
  const std::int64_t n = 100'000;
  auto table = model.make_array<double>("table", {n}), y = model.make_array<double>("y", {100});
  model.region("table", iterate(0, n), write(table), [](auto i, auto t) { t[i] = double(i); });
  model.region(
      "ends", {.at = "cuda_emulated0"}, iterate(0, 100), read(table, whole), write(y),
      with_kernel([n](auto i, auto t, auto y) { y[i] = t[n - 1 - i]; }, "(i, t, y, n) { y[i] = t[n - 1 - i]; }", n));
  EXPECT_EQ(y.read()[99], double(n - 100));
}

}  // namespace
}  // namespace tessera
