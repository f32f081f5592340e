// Regions on devices: the text of a body beside its function.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

/// Devices that compile kernels, and how regions are split over them and the host.
struct kernel_setting {
  const char* name;
  const char* plugin;
  int devices;
  const char* policy;
  const char* keys = "";  ///< of the runtime; null: two host memories
  machine make() const {
    const std::string common = "placement = \"eager\"\nhistory = \"off\"\n";
    const std::string all = common + (keys != nullptr ? keys : "");
    if (std::string(plugin) == "sim")
      return testing::with_sims(devices, "64 MiB", false, 2, all, "", keys != nullptr ? "" : testing::two_hosts);
    return testing::with_gpus(plugin, devices, "64 MiB", common + (keys != nullptr ? keys : testing::two_hosts));
  }
};
void PrintTo(const kernel_setting& s, std::ostream* out) { *out << s.name; }

class region_kernels : public ::testing::TestWithParam<kernel_setting> {
 protected:
  region_options by() const { return {.policy = region_policy::from_text(GetParam().policy)}; }
  /// Of the last launch of a region: iterations that devices got.
  std::uint64_t on_devices(const std::string& region) const {
    std::uint64_t all = 0;
    for (const region_row& row : model.regions())
      if (row.name == region)
        for (const region_share& s : row.shares)
          if (s.leaf.starts_with(GetParam().plugin)) all += s.iterations;
    return all;
  }
  /// Bytes that moved between memories so far.
  std::uint64_t bytes_moved() {
    model.fence();
    return rt.statistics().bytes_transferred();
  }
  runtime rt{GetParam().make()};
  location_model model{rt};
};

TEST_P(region_kernels, do_what_the_function_does) {
  const std::int64_t n = 10'000;
  auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
  const double scale = 0.5;
  model.region("fill", by(), iterate(0, n), write(x),
               with_kernel([](auto i, auto x) { x[i] = double(i); }, "(i, x) { x[i] = (double)i; }"));
  model.region("scale", by(), iterate(n - 1, -1, -1), read(x), write(y),
               with_kernel([scale](auto i, auto x, auto y) { y[i] = scale * x[i]; },
                           "(i, x, y, scale) { y[i] = scale * x[i]; }", scale));
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 0.5 * double(i)) << i;
  EXPECT_GT(on_devices("fill"), 0u);
  EXPECT_GT(on_devices("scale"), 0u);
}

TEST_P(region_kernels, leave_the_program_s_own_memory_up_to_date_after_a_pause) {
  const std::int64_t n = 5000;
  std::vector<double> own(n, 1);
  const auto twice_more = [&](const array<double>& x) {
    model.region("twice more", by(), iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] = 2 * x[i] + double(i); }, "(i, x) { x[i] = 2 * x[i] + i; }"));
  };
  const auto all_are = [&](double times) {  // times (i + 1) - i
    for (std::int64_t i = 0; i < n; ++i)
      if (own[std::size_t(i)] != times * double(i + 1) - double(i)) return false;
    return true;
  };
  {
    auto x = model.adopt("x", std::span(own), {n});
    twice_more(x);
    model.fence();
    EXPECT_TRUE(all_are(2));
    twice_more(x);
    model.fence({.at = rt.tree().at(rt.tree().root()).properties.name});
    EXPECT_TRUE(all_are(4)) << "a fence at the root is one of everything";
    EXPECT_GT(on_devices("twice more"), 0u);
    twice_more(x);
  }
  model.fence();
  EXPECT_TRUE(all_are(8)) << "of an array that has ended";
}

TEST_P(region_kernels, see_the_rows_of_neighbours_in_two_dimensions) {
  const std::int64_t rows = 64, columns = 37;
  auto now = model.make_array<std::int64_t>("now", {rows, columns}),
       next = model.make_array<std::int64_t>("next", {rows, columns});
  std::vector<std::int64_t> expected(std::size_t(rows * columns));
  {
    auto start = now.write();
    for (std::int64_t k = 0; k < rows * columns; ++k) start[k] = expected[std::size_t(k)] = k * k % 101;
  }
  std::vector<std::int64_t> last(std::size_t(rows * columns), 0);
  const auto at = [&](std::int64_t i, std::int64_t j) { return std::size_t(i * columns + j); };
  for (int step = 0; step < 6; ++step) {
    model.region(
        "step", by(), iterate({1, rows - 1}, {1, columns - 1}), read(now, halo(1)), update(next),
        with_kernel(
            [](auto i, auto j, auto now, auto next) {
              next(i, j) = (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1) + now(i, j)) % 1009;
            },
            "(i, j, now, next) { // the five points\n"
            "  next(i, j) = (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1) + now(i, j)) % 1009;\n"
            "}"));
    std::vector<std::int64_t> fresh(std::size_t(rows * columns), 0);
    if (step > 0) fresh = last;
    for (std::int64_t i = 1; i < rows - 1; ++i)
      for (std::int64_t j = 1; j < columns - 1; ++j)
        fresh[at(i, j)] = (expected[at(i - 1, j)] + expected[at(i + 1, j)] + expected[at(i, j - 1)] +
                           expected[at(i, j + 1)] + expected[at(i, j)]) %
                          1009;
    last = expected;
    expected = fresh;
    std::swap(now, next);
  }
  ASSERT_TRUE(std::ranges::equal(now.read().elements(), expected));
  EXPECT_GT(on_devices("step"), 0u);
}

/// What moves is what the neighbours' borders need, whatever else lies in their parts.
TEST_P(region_kernels, move_only_borders_in_a_loop_that_goes_on) {
  const std::int64_t rows = 4096, columns = testing::is_slow ? 8 : 64;
  auto now = model.make_array<double>("now", {rows, columns}), next = model.make_array<double>("next", {rows, columns});
  const auto step = [&] {
    model.region(
        "step", by(), iterate({0, rows}, {0, columns}), read(now, halo(1)), write(next),
        with_kernel([](auto i, auto j, auto now, auto next) { next(i, j) = now(i, j) + (i > 0 ? now(i - 1, j) : 1.0); },
                    "(i, j, now, next) { next(i, j) = now(i, j) + (i > 0 ? now(i - 1, j) : 1.0); }"));
    std::swap(now, next);
  };
  for (int k = 0; k < 4; ++k) step();
  const std::uint64_t before = bytes_moved();
  for (int k = 0; k < 10; ++k) step();
  const std::uint64_t per_step = (bytes_moved() - before) / 10;
  const auto borders = static_cast<std::uint64_t>(2 * (GetParam().devices + 1) * columns * 8);
  EXPECT_GT(per_step, 0u);
  EXPECT_LE(per_step, borders);
  const auto seen = now.read();
  double row[15] = {};  // of Pascal's triangle: every column is the same
  for (int k = 0; k < 14; ++k)
    for (int i = 14; i >= 0; --i) row[i] += i > 0 ? row[i - 1] : 1.0;
  for (int i = 0; i < 15; ++i) ASSERT_EQ(seen(i, 5), row[i]) << i;
}

TEST_P(region_kernels, join_results_from_all_memories) {
  const std::int64_t n = testing::is_slow ? 20'000 : 50'000;
  auto x = model.make_array<std::int64_t>("x", {n});
  region_result<std::int64_t> total(rt, "total"), least(rt, "least"), most(rt, "most");
  region_result<std::int32_t> all(rt, "all"), any(rt, "any");
  region_result<double> real(rt, "real");
  for (int turn = 0; turn < 2; ++turn) {
    model.region("fill", by(), iterate(0, n), write(x),
                 with_kernel([turn](auto i, auto x) { x[i] = (i * 7919 + turn) % 10007 - 5000; },
                             "(i, x, turn) { x[i] = (i * 7919 + turn) % 10007 - 5000; }", turn));
    model.region("join", by(), iterate(0, n), read(x), sum(total), minimum(least), maximum(most), all_of(all),
                 any_of(any), sum(real),
                 with_kernel(
                     [](auto i, auto x, auto& total, auto& least, auto& most, auto& all, auto& any, auto& real) {
                       total += x[i];
                       least = std::min(least, x[i]);
                       most = std::max(most, x[i]);
                       all = all && x[i] > -5000;
                       any = any || x[i] == 17;
                       real += 0.5;
                     },
                     "(i, x, total, least, most, all, any, real) {\n"
                     "  total += x[i];\n  least = x[i] < least ? x[i] : least;\n  most = x[i] > most ? x[i] : most;\n"
                     "  all = all && x[i] > -5000;\n  any = any || x[i] == 17;\n  real += 0.5;\n}"));
    std::int64_t sum_of = 0;
    for (std::int64_t i = 0; i < n; ++i) sum_of += (i * 7919 + turn) % 10007 - 5000;
    EXPECT_EQ(total.get(), sum_of);
    EXPECT_EQ(least.get(), -5000);
    EXPECT_EQ(most.get(), 5006);
    EXPECT_EQ(all.get(), 0);
    EXPECT_EQ(any.get(), 1);
    EXPECT_EQ(real.get(), 0.5 * double(n));
  }
  EXPECT_GT(on_devices("join"), 0u);
}

TEST_P(region_kernels, mix_with_regions_of_the_host_and_whole_arrays) {
  const std::int64_t n = 3000;
  auto x = model.make_array<float>("x", {n}), table = model.make_array<float>("table", {n}),
       y = model.make_array<float>("y", {n});
  model.region("table", iterate(0, n), write(table), [](auto i, auto t) { t[i] = float((i * 31) % 1000); });
  for (int k = 0; k < 3; ++k) {
    model.region("host", {.policy = policy::percentage({70, 30})}, iterate(0, n), write(x),
                 [k](auto i, auto x) { x[i] = float((i + k) % 3000); });
    model.region("look_up", by(), iterate(0, n, 2), read(x), read(table, whole), update(y),
                 with_kernel([n](auto i, auto x, auto table, auto y) { y[i] += table[n - 1 - std::int64_t(x[i])]; },
                             "(i, x, table, y, n) { y[i] += table[n - 1 - (long)x[i]]; }", n));
  }
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) {
    float expected = 0;
    for (int k = 0; k < 3 && i % 2 == 0; ++k) expected += float(((n - 1 - (i + k) % 3000) * 31) % 1000);
    ASSERT_EQ(seen[i], expected) << i;
  }
}

TEST_P(region_kernels, are_recorded_and_replayed) {
  const std::int64_t n = 2000;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  const auto step = [&] {
    model.region("forth", by(), iterate(0, n), read(x, halo(2)), write(y),
                 with_kernel([n](auto i, auto x, auto y) { y[i] = x[i] + (i + 2 < n ? x[i + 2] : 1); },
                             "(i, x, y, n) { y[i] = x[i] + (i + 2 < n ? x[i + 2] : 1); }", n));
    model.region(
        "back", by(), iterate(0, n), read(y), write(x),
        with_kernel([](auto i, auto y, auto x) { x[i] = y[i] % 65537; }, "(i, y, x) { x[i] = y[i] % 65537; }"));
  };
  step();
  {
    recording both = rt.record(step);
    for (int k = 0; k < 5; ++k) rt.replay(both);
    model.fence();
  }
  std::vector<std::int64_t> a(std::size_t(n), 0), b(a);
  for (int k = 0; k < 6; ++k) {
    for (std::int64_t i = 0; i < n; ++i)
      b[std::size_t(i)] = a[std::size_t(i)] + (i + 2 < n ? a[std::size_t(i + 2)] : 1);
    for (std::int64_t i = 0; i < n; ++i) a[std::size_t(i)] = b[std::size_t(i)] % 65537;
  }
  ASSERT_TRUE(std::ranges::equal(x.read().elements(), a));
}

TEST_P(region_kernels, are_recorded_where_loops_write_one_array_in_several_splits) {
  const std::int64_t n = 2000;
  auto x = model.make_array<std::int64_t>("x", {n});
  const auto step = [&] {
    model.region("one", by(), iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] = x[i] * 3 + i; }, "(i, x) { x[i] = x[i] * 3 + i; }"));
    model.region("other", {.policy = policy::percentage({45, 35, 20})}, iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] = x[i] % 65537; }, "(i, x) { x[i] = x[i] % 65537; }"));
    model.region("host", {.policy = policy::percentage({3, 97})}, iterate(0, n), update(x),
                 [](auto i, auto x) { x[i] += 2; });
  };
  recording all = rt.record(step);
  for (int k = 0; k < 5; ++k) rt.replay(all);
  model.fence();
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t expected = 0;
    for (int k = 0; k < 5; ++k) expected = (expected * 3 + i) % 65537 + 2;
    ASSERT_EQ(seen[i], expected) << i;
  }
}

TEST_P(region_kernels, learn_their_speed) {
  const std::int64_t n = 20'000;
  auto x = model.make_array<std::int32_t>("x", {n});
  for (const char* policy : {"any", "auto", "auto", "any", "auto"})
    model.region("count", {.policy = region_policy::from_text(policy)}, iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] += std::int32_t(i % 7); }, "(i, x) { x[i] += (int)(i % 7); }"));
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 5 * (i % 7));
}

TEST_P(region_kernels, are_compiled_for_few_numbers_of_tiles) {
  const std::int64_t n = 6000;
  auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n}),
       z = model.make_array<double>("z", {n});
  std::mt19937 random(5);
  std::size_t leaves = 0;
  for (location::node_id id = 0; id < rt.tree().known(); ++id)
    leaves += rt.tree().at(id).properties.kind == location::kind::worker ? 1 : 0;
  const auto policy = [&] {
    std::vector<int> shares(leaves, 0);
    for (int k = 0; k < 100; ++k) ++shares[random() % leaves];
    return fmt::format("percentage:{}", fmt::join(shares, ","));
  };
  for (int launch = 0; launch < 40; ++launch) {
    model.region("cut", {.policy = region_policy::from_text(policy())}, iterate(0, n), write(z),
                 [](auto i, auto z) { z[i] = double(i); });
    model.region("sum", {.policy = region_policy::from_text(policy())}, iterate(0, n), read(x), read(z), update(y),
                 with_kernel([](auto i, auto x, auto z, auto y) { y[i] += x[i] + z[i]; },
                             "(i, x, z, y) { y[i] += x[i] + z[i]; }"));
  }
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 40 * double(i));
  std::set<std::string> compiled;
  for (const auto& row : rt.statistics().operations)
    if (row.operation.starts_with("region sum #")) compiled.insert(row.operation);
  EXPECT_GE(compiled.size(), 1u);
  EXPECT_LE(compiled.size(), 6u) << "of 40 splits";
}

TEST_P(region_kernels, name_what_is_wrong_in_their_text) {
  auto x = model.make_array<double>("x", {100});
  unsigned line = 0;
  const auto refused = [&](const char* text) -> std::string {
    try {
      line = std::source_location::current().line() + 1;
      const auto body = with_kernel([](auto i, auto x) { x[i] = 1; }, text);
      model.region("wrong", by(), iterate(0, 100), write(x), body);
      model.fence();
    } catch (const error& e) {
      return e.what();
    }
    return "nothing";
  };
  EXPECT_THAT(refused("(i) { }"), ::testing::HasSubstr("names 1 parameters; the region has 2"));
  EXPECT_THAT(refused("(i) { }"),
              ::testing::HasSubstr("region 'wrong', with_kernel at " __FILE__ ":" + std::to_string(line)));
  EXPECT_THAT(refused("(i, x) { x = 1; }"), ::testing::HasSubstr("line 1 column 10: 'x' is an array"));
  EXPECT_THAT(refused("(i, x) { x[i = 1; }"), ::testing::HasSubstr("without its counterpart"));
  EXPECT_THAT(refused("i, x { x[i] = 1; }"), ::testing::HasSubstr("line 1 column 1"));
  const std::string compiled = refused("(i, x)\n{\n  x[i] = nothing_of_this_name;\n}");
  EXPECT_THAT(compiled, ::testing::HasSubstr("nothing_of_this_name"));
  // Where the program calls with_kernel, then the line in the text.
  EXPECT_THAT(compiled, ::testing::HasSubstr("kernels_test.cpp:" + std::to_string(line) + ": text of region wrong:3:"));
  EXPECT_THAT(refused("(i, x) { x[i] = 1; }"), ::testing::StrEq("nothing"));  // and the model works on
}

/// Loops of random bounds, policies, halos and places beside the same loops in one thread.
TEST_P(region_kernels, do_what_one_thread_does_in_random_programs) {
  const std::int64_t n = 400;
  std::mt19937 random(20261126);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::vector<array<std::int64_t>> arrays;
  std::vector<std::vector<std::int64_t>> expected(3, std::vector<std::int64_t>(std::size_t(n), 0));
  for (int k = 0; k < 3; ++k) arrays.push_back(model.make_array<std::int64_t>("a" + std::to_string(k), {n}));
  const std::vector<std::string> policies{"static", "flatten", "any", "percentage:10,20,70", "percentage:60,0,40",
                                          "auto"};
  constexpr int steps = testing::is_slow ? 30 : 150;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t from = number(0, 2), to = (from + number(1, 2)) % 3, width = number(0, 3),
                       begin = number(0, 200), end = number(begin, n), add = number(1, 9);
    auto &x = arrays[std::size_t(from)], &y = arrays[std::size_t(to)];
    const auto function = [=](auto i, auto x, auto y) {
      std::int64_t s = add;
      for (std::int64_t d = -width; d <= width; ++d)
        if (i + d >= 0 && i + d < n) s += x[i + d];
      y[i] = (y[i] + s) % 10007;
    };
    const region_options options{.policy = region_policy::from_text(policies[std::size_t(number(0, 5))])};
    if (number(0, 4) == 0)
      model.region("function", options, iterate(begin, end), read(x, halo(width)), update(y), function);
    else
      model.region(
          "kernel", options, iterate(begin, end), read(x, halo(width)), update(y),
          with_kernel(function,
                      "(i, x, y, n, width, add) {\n  long s = add;\n"
                      "  for (long d = -width; d <= width; ++d)\n    if (i + d >= 0 && i + d < n) s += x[i + d];\n"
                      "  y[i] = (y[i] + s) % 10007;\n}",
                      n, width, add));
    std::vector<std::int64_t>&a = expected[std::size_t(from)], &b = expected[std::size_t(to)];
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t s = add;
      for (std::int64_t d = -width; d <= width; ++d)
        if (i + d >= 0 && i + d < n) s += a[std::size_t(i + d)];
      b[std::size_t(i)] = (b[std::size_t(i)] + s) % 10007;
    }
    if (number(0, 20) == 0) {
      const std::size_t k = std::size_t(number(0, 2));
      ASSERT_TRUE(std::ranges::equal(arrays[k].read().elements(), expected[k])) << "step " << step;
    }
  }
  for (std::size_t k = 0; k < 3; ++k)
    ASSERT_TRUE(std::ranges::equal(arrays[k].read().elements(), expected[k])) << "array " << k;
}

TEST_P(region_kernels, run_at_a_device_alone) {
  const std::string device = std::string(GetParam().plugin) + "0";
  auto x = model.make_array<float>("x", {1000, 3}, {.at = device});
  model.region("there", iterate({0, 1000}, {0, 3}), write(x),
               with_kernel([](auto i, auto j, auto x) { x(i, j) = float(i - j); }, "(i, j, x) { x(i, j) = i - j; }"));
  EXPECT_EQ(x.read()(999, 2), 997.0f);
  EXPECT_EQ(on_devices("there"), 1000u);
  try {
    model.region("function", iterate({0, 1000}, {0, 3}), write(x), [](auto i, auto j, auto x) { x(i, j) = float(i); });
    FAIL() << "a function of the host ran on a device";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("runs functions of the host"));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("with_kernel"));
  }
}

TEST_P(region_kernels, run_on_the_host_while_a_device_is_detached) {
  const std::int64_t n = 1000;
  auto x = model.make_array<std::int64_t>("x", {n});
  const auto count = [&] {
    model.region("count", by(), iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] += i; }, "(i, x) { x[i] += i; }"));
  };
  const std::string device = std::string(GetParam().plugin) + "0";
  const auto share = [&] {
    std::uint64_t of_device = 0;
    for (const std::vector<region_row> rows = model.regions(); const region_share& s : rows.at(0).shares)
      if (s.leaf == device) of_device += s.iterations;
    return of_device;
  };
  count();
  EXPECT_GT(share(), 0u);
  rt.detach(device);
  count();
  EXPECT_EQ(share(), 0u);
  model.region("there", {.at = device}, iterate(0, n), update(x),  // nothing else is there: the host runs it
               with_kernel([](auto i, auto x) { x[i] += i; }, "(i, x) { x[i] += i; }"));
  model.fence();
  rt.attach(std::string(GetParam().plugin) + "0");
  count();
  EXPECT_GT(share(), 0u);
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 4 * i) << i;
}

/// A function of rows, and a text of elements.
TEST_P(region_kernels, may_have_loops_inside_that_the_function_has_not) {
  const std::int64_t rows = 100, columns = 33, deep = 5;
  auto x = model.make_array<std::int64_t>("x", {rows, columns}),
       y = model.make_array<std::int64_t>("y", {rows, columns});
  auto z = model.make_array<std::int32_t>("z", {rows, columns, deep});
  region_result<std::int64_t> total(rt, "total");
  model.region(
      "fill", by(), iterate(0, rows), write(x), write(z),
      with_kernel(
          [=](auto i, auto x, auto z) {
            for (std::int64_t j = 0; j < columns; ++j) {
              x(i, j) = i * columns + j;
              for (std::int64_t k = 0; k < deep; ++k) z(i, j, k) = std::int32_t(i * j + k);
            }
          },
          inner({0, columns}, {0, deep}),
          "(i, j, k, x, z, columns) { if (k == 0) x(i, j) = i * columns + j; z(i, j, k) = i * j + k; }", columns));
  model.region("mean", by(), iterate(1, rows - 1), read(x, halo(1)), update(y),
               with_kernel(
                   [=](auto i, auto x, auto y) {
                     for (std::int64_t j = 3; j < columns; ++j) y(i, j) = x(i - 1, j) + x(i + 1, j) + x(i, j - 3);
                   },
                   inner({3, columns}), "(i, j, x, y) { y(i, j) = x(i - 1, j) + x(i + 1, j) + x(i, j - 3); }"));
  model.region("total", by(), iterate(0, rows), read(y), read(z), sum(total),
               with_kernel(
                   [=](auto i, auto y, auto z, std::int64_t& sum) {
                     for (std::int64_t j = 0; j < columns; ++j) sum += y(i, j) + z(i, j, 4);
                   },
                   inner(columns), "(i, j, y, z, sum) { sum += y(i, j) + z(i, j, 4); }"));
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      expected += i * j + 4 + (i > 0 && i < rows - 1 && j >= 3 ? 3 * (i * columns + j) - 3 : 0);
  EXPECT_EQ(total.get(), expected);
  for (const char* region : {"fill", "mean", "total"}) EXPECT_GT(on_devices(region), 0u) << region;
  const auto seen = y.read();
  EXPECT_EQ(seen(50, 2), 0);
  EXPECT_EQ(seen(50, 3), 3 * (50 * columns + 3) - 3);
}

TEST_P(region_kernels, may_use_no_rows_of_an_array) {
  const std::int64_t n = 1000;
  auto none = model.make_array<double>("none", {0}), x = model.make_array<double>("x", {n});
  auto y = model.make_array<std::int64_t>("y", {n});
  model.region("no_rows", by(), iterate(0, n), read(none, whole), read(x, rows(7, 7)), write(y),
               with_kernel([](auto i, auto, auto, auto y) { y[i] = i; }, "(i, none, x, y) { y[i] = i; }"));
  model.region("nothing", by(), iterate(0, n), read(none, whole),
               with_kernel([](auto, auto) {}, "(i, none) { if (i < 0) (void)none[0]; }"));
  model.fence();
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], i);
  EXPECT_GT(on_devices("no_rows"), 0u);
  EXPECT_GT(on_devices("nothing"), 0u);
}

TEST_P(region_kernels, are_the_same_for_all_models_of_a_runtime) {
  const std::int64_t n = 1000;
  const auto run = [&](location_model& of) {
    auto x = of.make_array<std::int64_t>("x", {n}), y = of.make_array<std::int64_t>("y", {n});
    of.region("fill", by(), iterate(0, n), write(x),
              with_kernel([](auto i, auto x) { x[i] = 3 * i; }, "(i, x) { x[i] = 3 * i; }"));
    of.copy(x, y);
    return y.read()[n - 1];
  };
  EXPECT_EQ(run(model), 3 * (n - 1));
  const std::size_t operations = rt.operations().size();
  for (int k = 0; k < 3; ++k) {
    location_model another(rt);
    EXPECT_EQ(run(another), 3 * (n - 1));
  }
  EXPECT_EQ(rt.operations().size(), operations);
}

/// Neither are they cut off, nor done modulo 2^64.
TEST_P(region_kernels, refuse_more_work_items_than_a_device_has) {
  auto x = model.make_array<std::int64_t>("x", {100});
  region_result<std::int64_t> total(rt, "total");
  const std::int64_t many = std::int64_t{1} << 32;
  const auto message = [&] {
    try {
      model.fence();
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  model.region("items", by(), iterate(0, 100), update(x),
               with_kernel([](auto, auto) {}, inner({0, many}, {0, many}), "(i, j, k, x) { x[i] = j + k; }"));
  EXPECT_THAT(message(), ::testing::HasSubstr("are no grid"));
  model.region("joined", by(), iterate(0, 100), sum(total),
               with_kernel([](auto, auto&) {}, inner({0, many}, {0, many}), "(i, j, k, total) { total += j + k; }"));
  EXPECT_THAT(message(), ::testing::HasSubstr("are no grid"));
}

/// Products and sums are not fused, on the host or on a device.
TEST_P(region_kernels, have_the_bits_of_the_function) {
  const std::int64_t n = 5000;
  auto x = model.make_array<double>("x", {n}), y = model.make_array<double>("y", {n});
  const double s = 1.0 / 3;
  model.region("fill", by(), iterate(0, n), write(x),
               with_kernel([s](auto i, auto x) { x[i] = s * double(i) + 1 / (double(i) + s); },
                           "(i, x, s) { x[i] = s * (double)i + 1 / ((double)i + s); }", s));
  model.region("square", by(), iterate(0, n), read(x), write(y),
               with_kernel([s](auto i, auto x, auto y) { y[i] = x[i] * x[i] - s * x[i] + std::sqrt(x[i]) * s; },
                           "(i, x, y, s) { const x_element v = x[i]; y[i] = v * v - s * v + sqrt(v) * s; }", s));
  EXPECT_GT(on_devices("square"), 0u);
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) {
    const volatile double v1 = s * double(i), v2 = 1 / (double(i) + s), v = v1 + v2, square = v * v, less = s * v,
                          root = std::sqrt(v) * s, difference = square - less;
    ASSERT_EQ(seen[i], difference + root) << i;
  }
}

TEST_P(region_kernels, of_one_name_may_be_in_several_models) {
  const auto launch = [](location_model& in, const array<double>& x) {
    in.region("same", iterate(0, 100), update(x),
              with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }"));
  };
  auto x = model.make_array<double>("x", {100});
  launch(model, x);
  for (int k = 0; k < 3; ++k) {
    location_model other(rt);
    auto y = other.make_array<double>("y", {100});
    launch(other, y);
    other.region("same", iterate(0, 100), update(y),
                 with_kernel([](auto i, auto y) { y[i] *= 3; }, "(i, y) { y[i] *= 3; }"));
    EXPECT_EQ(y.read()[99], 3.0);
  }
  launch(model, x);
  EXPECT_EQ(x.read()[99], 2.0);
}

TEST_P(region_kernels, bring_memory_home_where_a_model_ends_without_a_pause) {
  std::vector<double> memory(1000, 1.0);
  {
    location_model other(rt);
    other.region("add", by(), iterate(0, 1000), update(other.array_over("x", std::span<double>(memory))),
                 with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }"));
  }
  EXPECT_EQ(memory, std::vector<double>(1000, 2.0));
  std::fill(memory.begin(), memory.end(), -1.0);  // it is the program's again, as what comes to lie there is
  rt.fence();
  EXPECT_EQ(memory, std::vector<double>(1000, -1.0));
}

std::vector<kernel_setting> kernel_settings() {
  std::vector<kernel_setting> all{{"sim", "sim", 1, "flatten"},
                                  {"two_sims", "sim", 2, "percentage:10,20,30,40"},
                                  {"sim_of_two_hosts", "sim", 1, "flatten", nullptr},
                                  {"two_emulated", "cuda_emulated", 2, "percentage:10,20,30,40"},
                                  {"validated", "cuda_emulated", 1, "static", "validate = true\n"}};
  if (!testing::watches_threads)  // whose threads are those of the others
    all.insert(all.end(), {{"sim_validated", "sim", 1, "static", "validate = true\n"},
                           {"hip_emulated", "hip_emulated", 1, "static"},
                           {"emulated", "cuda_emulated", 1, "flatten"},
                           {"two_hosts", "cuda_emulated", 1, "flatten", nullptr}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(devices, region_kernels, ::testing::ValuesIn(kernel_settings()),
                         [](const auto& test) { return std::string(test.param.name); });

#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(opencl, region_kernels, ::testing::Values(kernel_setting{"opencl", "opencl", 1, "static"}),
                         [](const auto& test) { return std::string(test.param.name); });
#endif

}  // namespace
}  // namespace tessera
