// Loops of programs: splits, halos, reductions, policies, on machines with one and two host memories.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include "tessera/region.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

/// Two declared groups: LocH has two cores of the host, LocI one.
const std::string declared = R"(
[topology]
synthetic = "core:3 pu:1"
[[loctype]]
name = "node"
kind = "unified"
[[loctype]]
name = "two"
kind = "cpu"
cores = 2
[[loctype]]
name = "one"
kind = "cpu"
cores = 1
[[location]]
name = "LocA"
type = "node"
[[location]]
name = "LocH"
type = "two"
[[location]]
name = "LocI"
type = "one"
[[hierarchy]]
parent = "LocA"
children = ["LocH", "LocI"]
)";

struct setting {
  const char* name;
  machine (*make)();
};
void PrintTo(const setting& s, std::ostream* out) { *out << s.name; }

struct regions : ::testing::TestWithParam<setting> {
  runtime rt{GetParam().make()};
  location_model model{rt};
};

INSTANTIATE_TEST_SUITE_P(
    machines, regions,
    ::testing::Values(
        setting{"one_worker", [] { return testing::host_only(1); }},
        setting{"two_workers", [] { return testing::host_only(2); }},
        setting{"two_hosts", [] { return testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4); }},
        setting{"beside_a_device", [] { return testing::with_sims(1, "64 MiB"); }},
        setting{"validated", [] { return testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2); }},
        setting{"two_hosts_validated",
                [] { return testing::machine_of("plugins = [\"host\"]\nvalidate = true\n" + testing::two_hosts, 4); }},
        setting{"declared", [] { return testing::machine_of("plugins = [\"host\"]\n" + declared, 3); }}),
    [](const auto& which) { return which.param.name; });

TEST_P(regions, follow_each_other_by_the_arrays_that_they_use) {
  constexpr std::int64_t n = 10'000;
  auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
  model.region("fill", iterate(0, n), write(y), [](auto i, auto y) { y[i] = static_cast<double>(i); });
  model.region("twice", iterate(0, n), read(y), write(x), [](auto i, auto y, auto x) { x[i] = 2 * y[i]; });
  model.region("add", iterate(0, n), read(y), update(x),
               [](std::int64_t i, rows_view<const double> y, rows_view<double> x) { x[i] += y[i]; });
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 3.0 * static_cast<double>(i)) << i;
}

TEST_P(regions, read_beyond_their_chunk_by_halo) {
  constexpr std::int64_t n = 1000;
  auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
  {
    const auto given = x.write();
    std::iota(given.begin(), given.end(), 0.0);
  }
  const auto smooth = [](auto i, auto from, auto to) {
    const std::int64_t rows = from.extent(0);
    to[i] = (i > 0 ? from[i - 1] : 0) + from[i] + (i + 1 < rows ? from[i + 1] : 0);
  };
  std::vector<double> expected(n), next(n);
  std::iota(expected.begin(), expected.end(), 0.0);
  for (int round = 0; round < 6; ++round) {
    model.region("smooth", {.policy = round % 2 == 0 ? policy::static_split : policy::percentage({30, 70})},
                 iterate(0, n), read(round % 2 == 0 ? x : y, halo(1)), write(round % 2 == 0 ? y : x), smooth);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = [&](std::int64_t k) { return k < 0 || k >= n ? 0 : expected[static_cast<std::size_t>(k)]; };
      next[static_cast<std::size_t>(i)] = at(i - 1) + at(i) + at(i + 1);
    }
    expected.swap(next);
  }
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], expected[static_cast<std::size_t>(i)]) << i;
}

TEST_P(regions, gather_from_all_of_an_array) {
  constexpr std::int64_t n = 4096;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  model.region("squares", {.policy = policy::flatten}, iterate(0, n), write(x), [](auto i, auto x) { x[i] = i * i; });
  model.region("gather", iterate(0, n), read(x, whole), write(y),
               [](auto i, auto x, auto y) { y[i] = x[(i * 977) % n]; });
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], ((i * 977) % n) * ((i * 977) % n)) << i;
}

TEST_P(regions, go_over_arrays_of_several_dimensions_and_their_rows) {
  auto a = model.make_array<float>("a", {37, 21}), row = model.make_array<float>("row", {1, 21});
  auto cube = model.make_array<std::int32_t>("cube", {9, 5, 4});
  model.region("index", iterate({0, 37}, {0, 21}), write(a),
               [](auto i, auto j, auto a) { a(i, j) = static_cast<float>(100 * i + j); });
  model.region("row", iterate({0, 1}, {0, 21}), read(a, rows(7, 8)), write(row),
               [](auto, auto j, auto a, auto row) { row(0, j) = a(7, j); });
  model.region("cube", iterate({0, 9}, {0, 5}, {0, 4}), write(cube),
               [](auto i, auto j, auto k, auto c) { c(i, j, k) = static_cast<std::int32_t>(100 * i + 10 * j + k); });
  // Elimination below a row: the loop gets shorter, and each part reads the pivot's row.
  model.region("below", iterate({8, 37}, {0, 21}), read(row, whole), update(a),
               [](auto i, auto j, auto row, auto a) { a(i, j) -= row(0, j); });
  const auto seen = a.read();
  const auto third = cube.read();
  for (std::int64_t i = 0; i < 37; ++i)
    for (std::int64_t j = 0; j < 21; ++j)
      ASSERT_EQ(seen(i, j), static_cast<float>(100 * i + j - (i >= 8 ? 700 + j : 0))) << i << ' ' << j;
  for (std::int64_t i = 0; i < 9; ++i) ASSERT_EQ(third(i, 3, 2), 100 * i + 32);
}

TEST_P(regions, step_over_indices_in_both_directions) {
  auto x = model.make_array<std::int64_t>("x", {100});
  model.region("zero", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = 0; });
  model.region("thirds", iterate(2, 100, 3), write(x), [](auto i, auto x) { x[i] = 1; });
  model.region("down", iterate(99, -1, -7), update(x), [](auto i, auto x) { x[i] += 10; });
  const auto seen = x.read();
  for (std::int64_t i = 0; i < 100; ++i)
    ASSERT_EQ(seen[i], (i >= 2 && (i - 2) % 3 == 0 ? 1 : 0) + ((99 - i) % 7 == 0 ? 10 : 0)) << i;
}

TEST_P(regions, reduce_and_give_the_same_bits_each_time) {
  constexpr std::int64_t n = 12'345;
  auto x = model.make_array<double>("x", {n});
  region_result<double> total(rt, "total"), largest(rt, "largest"), least(rt, "least");
  region_result<std::int32_t> odd(rt, "odd"), small(rt, "small");
  model.region("fill", iterate(0, n), write(x), [](auto i, auto x) { x[i] = std::sin(static_cast<double>(i)); });
  double first = 0;
  for (int round = 0; round < 5; ++round) {
    model.region("sum", iterate(0, n), read(x), sum(total), maximum(largest), minimum(least),
                 [](auto i, auto x, double& s, double& most, double& low) {
                   s += x[i];
                   most = std::max(most, x[i]);
                   low = std::min(low, x[i]);
                 });
    if (round == 0) first = total.get();
    EXPECT_EQ(total.get(), first);
  }
  model.region("flags", iterate(0, n), read(x), any_of(odd), all_of(small),
               [](auto i, auto x, std::int32_t& any, std::int32_t& all) {
                 if (i == n - 1 && x[i] != 7) any = 1;
                 if (x[i] > 2) all = 0;
               });
  double expected = 0, most = -2, low = 2;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = std::sin(static_cast<double>(i));
    expected += v, most = std::max(most, v), low = std::min(low, v);
  }
  EXPECT_NEAR(first, expected, 1e-10);
  EXPECT_EQ(largest.get(), most);
  EXPECT_EQ(least.get(), low);
  EXPECT_EQ(odd.get(), 1);
  EXPECT_EQ(small.get(), 1);
  model.region("nothing", iterate(5, 5), read(x), sum(total), [](auto i, auto x, double& s) { s += x[i]; });
  EXPECT_EQ(total.get(), 0);
  model.region("products", iterate({0, 4}, {1, 4}), product(total), [](auto, auto j, double& p) { p *= double(j); });
  EXPECT_EQ(total.get(), 6.0 * 6 * 6 * 6);
}

TEST_P(regions, give_the_same_results_under_every_policy) {
  constexpr std::int64_t n = 1000;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  model.region("start", iterate(0, n), write(x), [](auto i, auto x) { x[i] = i; });
  std::int64_t rounds = 0;
  for (const char* by : {"static", "flatten", "percentage:10,90", "percentage:[25,25,25,25]", "range:1,999", "any",
                         "auto", "auto", "auto", "runtime", "range:500,500"}) {
    model.region("step", {.policy = region_policy::from_text(by)}, iterate(0, n), read(x, halo(3)), write(y),
                 [](auto i, auto x, auto y) {
                   y[i] = x[std::max<std::int64_t>(i - 3, 0)] + x[std::min<std::int64_t>(i + 3, n - 1)];
                 });
    model.region("back", {.policy = region_policy::from_text(by)}, iterate(0, n), read(y), update(x),
                 [](auto i, auto y, auto x) { x[i] += y[i]; });
    ++rounds;
  }
  std::vector<std::int64_t> expected(n), mixed(n);
  std::iota(expected.begin(), expected.end(), 0);
  for (; rounds > 0; --rounds) {
    for (std::size_t i = 0; i < n; ++i)
      mixed[i] = expected[i < 3 ? 0 : i - 3] + expected[std::min<std::size_t>(i + 3, n - 1)];
    for (std::size_t i = 0; i < n; ++i) expected[i] += mixed[i];
  }
  const auto seen = x.read();
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(seen[static_cast<std::int64_t>(i)], expected[i]) << i;
}

TEST_P(regions, work_from_several_threads_and_inside_tasks) {
  constexpr std::int64_t n = 2000;
  auto shared = model.make_array<std::int64_t>("shared", {n});
  model.region("zero", iterate(0, n), write(shared), [](auto i, auto s) { s[i] = 0; });
  std::mutex turns;
  order_point turn;
  const auto add = [&](std::string_view by) {
    std::unique_lock in_turn(turns, std::defer_lock);
    if (rt.validates()) in_turn.lock(), rt.order_after(turn);  // to which any order of the additions is a mistake
    model.region("add", {.policy = region_policy::from_text(by)}, iterate(0, n), update(shared),
                 [](auto i, auto s) { s[i] += 1; });
    if (rt.validates()) rt.order_before(turn);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      const char* const by[] = {"static", "percentage:80,20", "any"};
      for (int k = 0; k < 40; ++k) add(by[(t + k) % 3]);
    });
  for (std::thread& t : threads) t.join();
  for (int k = 0; k < 5; ++k) rt.submit("from a task", [&] { add("static"); });
  model.fence();
  const auto seen = shared.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 125) << i;
}

TEST_P(regions, tell_the_failure_of_their_body) {
  auto x = model.make_array<double>("x", {100});
  model.region("fails", iterate(0, 100), write(x), [](auto i, auto x) {
    if (i == 60) throw std::runtime_error("iteration 60 is ill");
    x[i] = 1;
  });
  model.region("after", iterate(0, 100), update(x), [](auto i, auto x) { x[i] += 1; });
  try {
    model.fence();
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("iteration 60 is ill"), std::string::npos) << e.what();
  }
  EXPECT_THROW((void)x.read(), error);
  model.region("again", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = 4; });
  EXPECT_EQ(x.read()[60], 4);
}

TEST_P(regions, are_replayed_as_recorded) {
  constexpr std::int64_t n = 512;
  auto x = model.make_array<std::int64_t>("x", {n});
  region_result<std::int64_t> total(rt, "total");
  const auto steps = [&] {
    model.region("more", iterate(0, n), update(x), [](auto i, auto x) { x[i] += i; });
    model.region("sum", iterate(0, n), read(x), sum(total), [](auto i, auto x, std::int64_t& s) { s += x[i]; });
  };
  model.region("zero", iterate(0, n), write(x), [](auto i, auto x) { x[i] = 0; });
  steps();
  recording step = rt.record(steps);
  for (int k = 0; k < 100; ++k) rt.replay(step);
  EXPECT_EQ(total.get(), 101 * (n * (n - 1) / 2));
}

TEST_P(regions, are_recorded_where_loops_split_an_array_in_several_ways) {
  constexpr std::int64_t n = 1000;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  auto z = model.make_array<std::int64_t>("z", {n});
  region_result<std::int64_t> total(rt, "total");
  const auto steps = [&] {
    model.region("write", {.policy = policy::flatten}, iterate(0, n), update(y), [](auto i, auto y) { y[i] += i; });
    model.region("read", {.policy = policy::percentage({10, 90})}, iterate(0, n), read(y), write(x),
                 [](auto i, auto y, auto x) { x[i] = y[i]; });
    model.region("any", {.policy = policy::any}, iterate(0, n), read(x, whole), update(z, whole),
                 [](auto i, auto x, auto z) { z[999 - i] = x[i]; });
    model.region("sum", iterate(0, n), read(z), sum(total),
                 [](auto i, auto z, std::int64_t& s) { s += z[i] * (i + 1); });
  };
  model.region("zero", iterate(0, n), write(y), [](auto i, auto y) { y[i] = 0; });
  steps();
  recording step = rt.record(steps);
  for (int k = 0; k < 3; ++k) rt.replay(step);
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < n; ++i) expected += 4 * (999 - i) * (i + 1);
  EXPECT_EQ(total.get(), expected);
}

/// With views, and regions in a third split of what they only read, between the replays.
TEST_P(regions, are_recorded_where_loops_write_one_array_in_several_splits) {
  constexpr std::int64_t n = 1000;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  auto z = model.make_array<std::int64_t>("z", {n});
  const auto step = [&] {
    model.region("rows", {.policy = policy::static_split}, iterate(0, n), update(x),
                 [](auto i, auto x) { x[i] = 3 * x[i] + i; });
    model.region("tiles", {.policy = policy::range({1, 998, 1})}, iterate(0, n), update(x),
                 [](auto i, auto x) { x[i] ^= 5; });
    model.region("read", {.policy = policy::percentage({90, 10})}, iterate(1, n - 1), read(x, halo(1)), write(y),
                 [](auto i, auto x, auto y) { y[i] = x[i - 1] + x[i + 1]; });
    model.region("inner", {.policy = policy::percentage({30, 70})}, iterate(0, n), read(y), update(x),
                 [](auto i, auto y, auto x) { x[i] += y[i] % 1009; });
    model.region("rows", {.policy = policy::static_split}, iterate(0, n), update(x),
                 [](auto i, auto x) { x[i] %= 65537; });
  };
  std::vector<std::int64_t> a(std::size_t(n), 0), b(a);
  const auto expect_step = [&] {
    for (std::int64_t i = 0; i < n; ++i) a[std::size_t(i)] = (3 * a[std::size_t(i)] + i) ^ 5;
    for (std::size_t i = 1; i + 1 < std::size_t(n); ++i) b[i] = a[i - 1] + a[i + 1];
    for (std::size_t i = 0; i < std::size_t(n); ++i) a[i] = (a[i] + b[i] % 1009) % 65537;
  };
  const bool before = std::string_view(GetParam().name).starts_with("two");
  if (before) step(), expect_step();
  recording steps = rt.record(step);
  EXPECT_LT(steps.submitted(), steps.size());  // what changes the split is not the program's
  for (int k = 0; k < 6; ++k) {
    rt.replay(steps);
    expect_step();
    if (k == 2) {
      const auto seen = x.rows(400, 700).read();
      for (std::int64_t i = 400; i < 700; ++i) ASSERT_EQ(seen[i], a[std::size_t(i)]) << i;
    }
    if (k == 3) {
      x.rows(499, 501).update()[499] = 7;
      a[499] = 7;
    }
    if (k == 4) {
      model.region("copy", {.policy = policy::range({10, 990})}, iterate(0, n), read(x), write(z),
                   [](auto i, auto x, auto z) { z[i] = x[i]; });
      ASSERT_TRUE(std::ranges::equal(z.read().elements(), a));
    }
  }
  ASSERT_TRUE(std::ranges::equal(x.read().elements(), a));
  ASSERT_TRUE(std::ranges::equal(y.read().elements(), b));
}

TEST(counted_regions, are_right_under_several_threads) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  const auto busy = [](int microseconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  const auto any = [&] { model.region("any", {.policy = policy::any}, iterate(0, 1), [busy](auto) { busy(5); }); };
  for (int round = 0; round < 400; ++round) {
    std::atomic<bool> begun = false;
    std::thread other([&] {
      begun = true;
      for (int k = 0; k < 4; ++k) any(), busy(k);
    });
    while (!begun) {
    }
    busy(round % 40);
    model.fence();  // while tasks of the other thread may be out again
    other.join();
    rt.fence();
    any();
    ASSERT_EQ(model.regions()[0].shares[0].leaf, "core0") << round;  // the first that is idle
    rt.fence();
  }
}

TEST(counted_regions, count_no_task_that_never_ran) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto x = model.make_array<double>("x", {8});
  const auto any = [&] {
    model.region("any", {.policy = policy::any}, iterate(0, 8), update(x), [](auto i, auto x) { x[i] += 1; });
  };
  for (int k = 0; k < 3; ++k) {
    model.region("fails", iterate(0, 8), write(x), [](auto, auto) { throw std::runtime_error("ill"); });
    any();
    EXPECT_THROW(model.fence(), error);
    model.region("again", iterate(0, 8), write(x), [](auto i, auto x) { x[i] = 1; });
    model.fence();
    any();
    EXPECT_EQ(model.regions()[1].shares[0].leaf, "core0");
    model.fence();
  }
}

TEST(many_regions, are_forgotten_in_the_end) {
  runtime rt(testing::host_only(1));
  location_model model(rt);
  auto x = model.make_array<double>("x", {100});
  const int loops = testing::is_slow ? 9'000 : 20'000;
  for (int k = 0; k < loops; ++k)
    model.region("loop" + std::to_string(k),
                 {.policy = region_policy::from_text(k % 2 == 0 ? "static"
                                                                : "percentage:" + std::to_string(k % 4000 / 40.0) +
                                                                      "," + std::to_string(100 - k % 4000 / 40.0))},
                 iterate(0, 1 + k % 100), update(x), [](auto i, auto x) { x[i] += 1; });
  model.fence();
  const std::vector<region_row> rows = model.regions();
  EXPECT_LE(rows.size(), 8192u);
  EXPECT_EQ(rows.back().name, "loop" + std::to_string(loops - 1));
}

/// Rows that an array does not have are none, however far away they are.
/// A leaf that has several parts of a loop is one row, in the order of the leaves.
TEST(region_loops, of_which_leaves_have_several_parts_have_one_row_for_each) {
  runtime rt(testing::host_only());
  location_model model(rt);
  auto x = model.make_array<double>("x", {100});
  model.region("parts", {.policy = policy::percentage({10, 20, 30, 40})}, iterate(0, 100), write(x),
               [](auto i, auto x) { x[i] = 1; });
  const std::vector<region_row> rows = model.regions();
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].shares.size(), 2u);
  EXPECT_EQ(rows[0].shares[0].iterations, 40u);
  EXPECT_EQ(rows[0].shares[0].tasks, 2u);
  EXPECT_EQ(rows[0].shares[1].iterations, 60u);
}

// What a body adds to a result by value is lost, so such a body does not compile: `location_model::region` asks for
// this.
template <class Body, class... Uses>
constexpr bool loses = detail::loses_a_result<Body, 1, Uses...>(std::index_sequence_for<Uses...>());
using sum_of = region_reduction<double, detail::join_sum>;
using most_of = region_reduction<std::int64_t, detail::maximum_operation>;
constexpr auto by_value = [](auto, auto s) { s += 1; };
constexpr auto by_const_reference = [](auto, const double& s) { (void)s; };
constexpr auto by_reference = [](auto, auto& s) { s += 1; };
constexpr auto by_typed_reference = [](std::int64_t, double& s) { s += 1; };
constexpr auto second_by_value = [](auto, auto x, auto& s, std::int64_t m) { s += x[0], m = 1; };
constexpr auto all_by_reference = [](auto, auto x, auto& s, std::int64_t& m) { s += x[0], m = 1; };
static_assert(loses<decltype(by_value), sum_of>);
static_assert(loses<decltype(by_const_reference), sum_of>);
static_assert(!loses<decltype(by_reference), sum_of>);
static_assert(!loses<decltype(by_typed_reference), sum_of>);
static_assert(loses<decltype(second_by_value), region_use<const double>, sum_of, most_of>);
static_assert(!loses<decltype(all_by_reference), region_use<const double>, sum_of, most_of>);
static_assert(loses<decltype(with_kernel(by_value, "(i, s) { s += 1; }")), sum_of>);
static_assert(!loses<decltype(with_kernel(by_reference, "(i, s) { s += 1; }")), sum_of>);

TEST(region_loops, of_the_last_indices_have_no_rows_beside_them) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  const auto x = model.make_array<double>("x", {10});
  region_result<std::int64_t> count(rt, "count");
  const auto has_none = [&](const iteration_space<1>& over, access_pattern rows_of_x) {
    const std::string said = test_support::message_of(
        [&] { model.region("loop", over, read(x, rows_of_x), [](auto, auto) {}); }, error_kind::usage);
    EXPECT_NE(said.find("read no row of array 'x', which has 10 rows"), std::string::npos) << said;
  };
  has_none(iterate(last - 5, last), offset(7));
  has_none(iterate(last, last - 5, -1), offset(7));
  has_none(iterate(least, least + 5), offset(-3));
  has_none(iterate(least, least + 5), halo(-1, 2));
  const auto refused = [&](access_pattern pattern) {
    return test_support::message_of(
        [&] { model.region("loop", iterate(0, 10), read(x, pattern), update(x), [](auto...) {}); }, error_kind::usage);
  };
  for (const access_pattern& far :
       {halo(last), halo(1, last), halo(least, last), access_pattern{access_pattern::kind::halo, least, -1}})
    EXPECT_NE(refused(far).find("does not fit array 'x'"), std::string::npos) << refused(far);
  model.region("split", {.policy = policy::static_split, .split_over = {least, last}}, iterate(0, 1), read(x, whole),
               sum(count), [](auto, auto, auto& s) { ++s; });
  EXPECT_EQ(count.get(), 1);
}

TEST(region_loops, reach_the_last_indices) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  std::mutex mutex;
  std::vector<std::int64_t> seen;
  const auto note = [&](std::int64_t i) {
    const std::lock_guard guard(mutex);
    seen.push_back(i);
  };
  const auto runs = [&](iteration_space<1> over) {
    seen.clear();
    auto x = model.make_array<double>("x", {1});
    model.region("loop", over, read(x, whole), [&](auto i, auto) { note(i); });
    model.fence();
    std::vector<std::int64_t> loop = seen;
    region_result<std::int64_t> count(rt, "count");
    seen.clear();
    model.region("counted", over, sum(count), [&](auto i, auto& s) { note(i), ++s; });
    EXPECT_EQ(count.get(), static_cast<std::int64_t>(loop.size()));
    std::ranges::sort(seen);
    std::ranges::sort(loop);
    EXPECT_EQ(loop, seen);
    return loop;
  };
  using indices = std::vector<std::int64_t>;
  EXPECT_EQ(runs(iterate(last - 2, last)), (indices{last - 2, last - 1}));
  EXPECT_EQ(runs(iterate(last, last - 2, -1)), (indices{last - 1, last}));
  EXPECT_EQ(runs(iterate(least, last, last)), (indices{least, -1, last - 1}));
  EXPECT_EQ(runs(iterate(last, least, least)), (indices{-1, last}));
}

TEST(region_reductions, end_where_indices_end) {
  runtime rt(testing::host_only());
  location_model model(rt);
  region_result<std::int64_t> count(rt, "count");
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  model.region("count", iterate({0, 2}, {last - 3, last}), sum(count), [](auto, auto, std::int64_t& s) { s += 1; });
  EXPECT_EQ(count.get(), 6);
}

TEST_P(regions, show_what_each_leaf_got) {
  auto x = model.make_array<double>("x", {1000});
  for (int k = 0; k < 3; ++k)
    model.region("fill", {.policy = policy::flatten}, iterate(0, 1000), write(x), [](auto i, auto x) { x[i] = 1; });
  model.fence();
  const std::vector<region_row> rows = model.regions();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "fill");
  EXPECT_EQ(rows[0].policy, "flatten");
  EXPECT_EQ(rows[0].launches, 3u);
  EXPECT_EQ(rows[0].iterations, 1000u);
  std::uint64_t all = 0;
  for (const region_share& s : rows[0].shares) all += s.iterations;
  EXPECT_EQ(all, 1000u);
}

/// A second run begins with the shares that the first one had in the end; one that keeps nothing with equal ones.
TEST(learnt_regions, begin_where_the_last_run_ended) {
  const auto file = std::filesystem::temp_directory_path() / ("tessera_rates_" + std::to_string(getpid()) + ".json");
  std::filesystem::remove(file);
  const auto shares = [&](const std::string& history, int launches) {
    runtime rt(testing::machine_of("plugins = [\"host\"]\nhistory = \"" + history + "\"\n" + declared, 3));
    location_model model(rt);
    auto x = model.make_array<double>("x", {1000}, {.at = "LocA"});
    for (int k = 0; k < launches; ++k) {
      model.region("learn", {.policy = policy::automatic}, iterate(0, 1000), update(x), [](auto, auto) {});
      model.fence();
    }
    return model.regions().at(0).shares.at(0).iterations;
  };
  EXPECT_EQ(shares("off", 1), 500u);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(shares(file.string(), 1), 500u);
  ASSERT_TRUE(std::filesystem::exists(file));
  // As if LocI were three times as fast as LocH, of which a core was measured.
  std::ifstream read(file);
  nlohmann::json kept = nlohmann::json::parse(read);
  for (auto& machine : kept["machines"])
    for (auto& program : machine["programs"])
      for (auto& r : program["regions"]) r["iterations_per_second"] = r["leaf"] == "LocH" ? 1000.0 : 6000.0;
  std::ofstream(file) << kept;
  EXPECT_EQ(shares(file.string(), 1), 250u);
  std::filesystem::remove(file);
}

TEST(declared_regions, run_where_their_arrays_are_and_split_a_share_over_its_cores) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\n[region]\npolicy = \"percentage:[80,20]\"\n" + declared, 3));
  location_model model(rt);
  auto x = model.make_array<double>("x", {1000}, {.at = "LocA"}),
       y = model.make_array<double>("y", {1000}, {.at = "LocH"});
  const auto body = [](auto i, auto x) { x[i] = 1; };
  model.region("all", iterate(0, 1000), write(x), body);
  model.region("two", iterate(0, 1000), read(x), write(y), [](auto i, auto x, auto y) { y[i] = x[i]; });
  model.region("one", {.policy = policy::static_split, .at = "LocI"}, iterate(0, 1000), write(x), body);
  const std::vector<region_row> rows = model.regions();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].location, "LocA");
  EXPECT_EQ(rows[0].policy, "percentage:[80,20]");
  ASSERT_EQ(rows[0].shares.size(), 2u);
  EXPECT_EQ(rows[0].shares[0].leaf, "LocH");
  EXPECT_EQ(rows[0].shares[0].iterations, 800u);
  EXPECT_EQ(rows[0].shares[0].tasks, 2u);  // one for each of its cores
  EXPECT_EQ(rows[0].shares[1].iterations, 200u);
  EXPECT_EQ(rows[1].location, "LocH");
  EXPECT_EQ(rows[2].location, "LocI");
  y.move("LocI");
  EXPECT_EQ(y.location(), "LocI");
  model.region("moved", {.policy = policy::static_split}, iterate(0, 1000), read(x), update(y),
               [](auto i, auto x, auto y) { y[i] += x[i]; });
  EXPECT_EQ(model.regions()[3].location, "LocI");
  EXPECT_EQ(y.read()[999], 2);
}

/// A loop in order is one task, also where the leaf that gets it is a group of cores.
TEST(declared_regions, that_write_any_row_run_on_one_core_of_a_group) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\n" + declared, 3));
  location_model model(rt);
  auto x = model.make_array<double>("x", {1000}, {.at = "LocH"});
  for (int round = 0; round < 3; ++round)
    model.region("prefix", {.policy = policy::any}, iterate(1, 1000), update(x, whole),
                 [](auto i, auto x) { x[i] = x[i - 1] + 1; });
  const std::vector<region_row> rows = model.regions();
  ASSERT_EQ(rows[0].shares.size(), 1u);
  EXPECT_EQ(rows[0].shares[0].leaf, "LocH");
  EXPECT_EQ(rows[0].shares[0].tasks, 1u);
  EXPECT_EQ(x.read()[999], 999);
  model.region("others", {.policy = policy::any}, iterate(0, 1000), update(x), [](auto i, auto x) { x[i] += 1; });
  EXPECT_EQ(model.regions()[1].shares[0].tasks, 2u);  // one for each of its cores
}

}  // namespace
}  // namespace tessera
