// Copies between arrays, views of parts, halos to one side, arrays that are read beside what is written, distances.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "hierarchy/region/storage.hpp"
#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

using test_support::error_of;

struct copy_setting {
  const char* name;
  machine (*make)();
};
void PrintTo(const copy_setting& s, std::ostream* out) { *out << s.name; }

struct region_copies : ::testing::TestWithParam<copy_setting> {
  runtime rt{GetParam().make()};
  location_model model{rt};

  /// x[p] = p on all leaves.
  template <std::size_t Rank>
  void number(const array<std::int64_t, Rank>& x) {
    const std::int64_t rows = x.extents()[0], width = x.extents().count() / rows;
    model.region("number", {.policy = policy::flatten}, iterate({0, rows}, {0, width}), write(x),
                 with_kernel([w = width](auto i, auto j, auto x) { x[i * w + j] = i * w + j; },
                             "(i, j, x, w) { x[i * w + j] = i * w + j; }", width));
  }
};

INSTANTIATE_TEST_SUITE_P(
    machines, region_copies,
    ::testing::Values(
        copy_setting{"one_worker", [] { return testing::host_only(1); }},
        copy_setting{"two_hosts", [] { return testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4); }},
        copy_setting{
            "two_hosts_validated",
            [] { return testing::machine_of("plugins = [\"host\"]\nvalidate = true\n" + testing::two_hosts, 4); }},
        copy_setting{"two_devices",
                     [] { return testing::with_gpus("cuda_emulated", 2, "16 MiB", "history = \"off\"\n"); }}),
    [](const auto& which) { return which.param.name; });

TEST_P(region_copies, go_between_arrays_that_are_split_differently) {
  auto x = model.make_array<std::int64_t>("x", {1000}), y = model.make_array<std::int64_t>("y", {400});
  number(x);
  model.region("zero", {.policy = policy::any}, iterate(0, 400), write(y, whole), [](auto i, auto y) { y[i] = 0; });
  model.copy(x.rows(500, 600), y.rows(10, 110));
  model.copy(x.rows(990, 1000), y.rows(390, 400));
  model.copy(x.rows(3, 3), y.rows(400, 400));
  number(x);
  const auto seen = y.read();
  for (std::int64_t i = 0; i < 400; ++i) ASSERT_EQ(seen[i], i >= 10 && i < 110 ? 490 + i : i >= 390 ? 600 + i : 0) << i;
}

TEST_P(region_copies, go_by_whole_rows) {
  auto x = model.make_array<std::int64_t>("x", {60, 4, 5});
  auto y = model.make_array<std::int64_t>("y", {50, 20});
  number(x);
  number(y);
  model.copy(x.rows(30, 60), y.rows(0, 30));
  {
    const auto seen = y.read();
    for (std::int64_t p = 0; p < 1000; ++p) ASSERT_EQ(seen[p], p < 600 ? 600 + p : p) << p;
  }
  auto z = model.make_array<std::int64_t>("z", {50, 20});
  model.copy(y, z);
  EXPECT_EQ(z.read()(49, 19), 999);
}

TEST_P(region_copies, go_inside_one_array) {
  auto x = model.make_array<std::int64_t>("x", {1000});
  number(x);
  model.copy(x.rows(0, 300), x.rows(650, 950));
  model.copy(x.rows(900, 1000), x.rows(0, 100));
  const auto seen = x.read();
  for (std::int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(seen[i], i < 100 ? (i < 50 ? i + 250 : i + 900) : i >= 650 && i < 950 ? i - 650 : i) << i;
}

TEST_P(region_copies, go_from_an_array_that_a_recording_uses) {
  auto x = model.make_array<std::int64_t>("x", {1000}), z = model.make_array<std::int64_t>("z", {1000});
  number(x);
  recording kept = rt.record([&] { number(x); });
  rt.replay(kept);
  model.copy(x.rows(100, 333), z.rows(100, 333));
  EXPECT_EQ(z.read()[332], 332);
  model.region("other", {.policy = policy::percentage({10, 90})}, iterate(1, 999), read(x, halo(1)), write(z),
               with_kernel([](auto i, auto x, auto z) { z[i] = x[i - 1] + x[i + 1]; },
                           "(i, x, z) { z[i] = x[i - 1] + x[i + 1]; }"));
  EXPECT_EQ(z.read()[998], 1996);
  rt.replay(kept);
  model.fence();
}

TEST_P(region_copies, go_with_all_element_types) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    auto x = model.make_array<T>("x", {100, 3}), y = model.make_array<T>("y", {40, 3});
    for (T& v : x.write()) v = T(3);
    model.copy(x.rows(60, 100), y.rows(0, 40));
    EXPECT_EQ(y.read()(39, 2), T(3));
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
  check(std::type_identity<std::int32_t>{});
  check(std::type_identity<std::uint8_t>{});
  check(std::type_identity<std::complex<double>>{});
}

TEST_P(region_copies, do_what_one_thread_does_in_random_programs) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  const std::vector<std::int64_t> rows{500, 173, 64};
  std::vector<array<std::int64_t>> arrays;
  std::vector<std::vector<std::int64_t>> oracle;
  for (const std::int64_t n : rows) {
    arrays.push_back(model.make_array<std::int64_t>("a" + std::to_string(n), {n}));
    number(arrays.back());
    oracle.emplace_back(static_cast<std::size_t>(n));
    std::iota(oracle.back().begin(), oracle.back().end(), 0);
  }
  const char* const policies[] = {"static", "flatten", "any"};
  constexpr int steps = testing::is_slow ? 40 : 200;
  for (int step = 0; step < steps; ++step) {
    const auto from = static_cast<std::size_t>(below(3)), to = static_cast<std::size_t>(below(3));
    const std::int64_t count = 1 + below(std::min(rows[from], rows[to]) / 2), first = below(rows[from] - count + 1),
                       target = below(rows[to] - count + 1);
    if (from == to && first < target + count && target < first + count) continue;
    model.copy(arrays[from].rows(first, first + count), arrays[to].rows(target, target + count));
    std::copy_n(oracle[from].begin() + first, count, oracle[to].begin() + target);
    model.region("add", {.policy = region_policy::from_text(policies[below(3)])}, iterate(0, rows[to]),
                 update(arrays[to]), with_kernel([](auto i, auto a) { a[i] += i; }, "(i, a) { a[i] += i; }"));
    for (std::int64_t i = 0; i < rows[to]; ++i) oracle[to][static_cast<std::size_t>(i)] += i;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const auto seen = arrays[k].read();
    ASSERT_TRUE(std::ranges::equal(seen.elements(), oracle[k])) << k;
  }
}

TEST_P(region_copies, refuse_what_does_not_fit) {
  auto x = model.make_array<double>("x", {100, 4}), y = model.make_array<double>("y", {50, 4}),
       z = model.make_array<double>("z", {100, 5});
  const auto refuses = [&](const char* text, const auto& call) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    EXPECT_EQ(rt.tasks_submitted(), before);
  };
  refuses("rows 90 to 101 of array 'x', which has 100 rows", [&] { model.copy(x.rows(90, 101), y.rows(0, 11)); });
  refuses("rows -1 to 10 of array 'y', which has 50 rows", [&] { model.copy(x.rows(0, 11), y.rows(-1, 10)); });
  refuses("100 rows of 'x' cannot be copied to 50 rows of 'y'", [&] { model.copy(x, y); });
  refuses("rows of 'x' have 4 elements, and those of 'z' have 5", [&] { model.copy(x, z); });
  refuses("rows 0 to 10 of array 'x' overlap rows 9 to 19", [&] { model.copy(x.rows(0, 10), x.rows(9, 19)); });
}

TEST_P(region_copies, parts_are_looked_at_alone) {
  auto x = model.make_array<std::int64_t>("x", {100, 3});
  number(x);
  {
    auto seen = x.rows(20, 30).update();
    EXPECT_EQ(seen.elements().size(), 30u);
    EXPECT_EQ(seen(20, 0), 60);
    EXPECT_EQ(seen.elements()[29], 89);
    seen(29, 2) = -1;
    for (std::int64_t& v : x.rows(0, 1).write()) v = 7;  // rows apart do not wait for each other
  }
  const auto seen = x.read();
  EXPECT_EQ(seen(29, 2), -1);
  EXPECT_EQ(seen(30, 0), 90);
  EXPECT_EQ(seen(0, 2), 7);
  EXPECT_EQ(seen(1, 0), 3);
  EXPECT_NE(std::string(error_of([&] { (void)x.rows(5, 4).read(); }).what()).find("a view of rows 5 to 4"),
            std::string::npos);
  EXPECT_NE(std::string(error_of([&] { (void)x.rows(5, 101).read(); }).what()).find("which has 100 rows"),
            std::string::npos);
}

/// Without waiting for a region that changes the other rows.
TEST(region_parts, are_looked_at_while_others_are_changed) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto x = model.make_array<std::int64_t>("x", {100});
  model.region("fill", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = i; });
  model.fence();
  std::atomic<bool> started{false}, open{false};
  model.region("long", {.policy = policy::any}, iterate(50, 51), update(x), [&](auto i, auto x) {
    started = true;
    while (!open) std::this_thread::yield();
    x[i] = -1;
  });
  while (!started) std::this_thread::yield();
  EXPECT_EQ(x.rows(0, 50).read()[49], 49);
  open = true;
  EXPECT_EQ(x.rows(50, 60).read()[50], -1);
}

/// Of an array whose tiles a recording keeps, the other rows of a tile stay.
TEST(region_parts, keep_the_rest_of_tiles_that_stay) {
  runtime rt(testing::host_only(1));
  location_model model(rt);
  auto x = model.make_array<std::int64_t>("x", {100});
  const auto fill = [&] { model.region("fill", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = i; }); };
  fill();
  recording r = rt.record(fill);
  rt.replay(r);
  for (std::int64_t& v : x.rows(10, 20).write()) v = 5;
  const auto seen = x.read();
  EXPECT_EQ(seen[9], 9);
  EXPECT_EQ(seen[10], 5);
  EXPECT_EQ(seen[20], 20);
}

TEST_P(region_copies, read_on_one_side_only) {
  auto x = model.make_array<std::int64_t>("x", {1000}), y = model.make_array<std::int64_t>("y", {1000});
  number(x);
  const auto check = [&](const access_pattern& pattern, std::int64_t first, std::int64_t last, const char* what) {
    model.region("sums", {.policy = policy::flatten}, iterate(0, 1000), read(x, pattern), write(y),
                 with_kernel(
                     [=](auto i, auto x, auto y) {
                       std::int64_t s = 0;
                       for (std::int64_t k = std::max<std::int64_t>(i + first, 0);
                            k <= std::min<std::int64_t>(i + last, 999); ++k)
                         s += x[k];
                       y[i] = s;
                     },
                     "(i, x, y, first, last) { long s = 0; for (long k = i + first < 0 ? 0 : i + first; k <= (i + last "
                     "> 999 ? 999 : i + last); ++k) s += x[k]; y[i] = s; }",
                     first, last));
    const auto seen = y.read();
    for (std::int64_t i = 0; i < 1000; ++i) {
      std::int64_t s = 0;
      for (std::int64_t k = std::max<std::int64_t>(i + first, 0); k <= std::min<std::int64_t>(i + last, 999); ++k)
        s += k;
      ASSERT_EQ(seen[i], s) << what << " " << i;
    }
  };
  check(halo(2, 0), -2, 0, "before");
  check(halo(0, 3), 0, 3, "behind");
  check(halo(-1, 2), 1, 2, "behind only");
  check(halo(3, -2), -3, -2, "before only");
  check(offset(1), 1, 1, "next");
  check(offset(-700), -700, -700, "far before");
}

/// A row is read while others of the same array are written, as in elimination.
TEST_P(region_copies, arrays_are_read_beside_what_is_written) {
  constexpr std::int64_t n = 40;
  auto a = model.make_array<std::int64_t>("a", {n, n});
  std::vector<std::int64_t> oracle(n * n);
  std::iota(oracle.begin(), oracle.end(), 0);
  number(a);
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    model.region("eliminate", {.policy = policy::flatten}, iterate({k + 1, n}, {0, n}), read(a, rows(k, k + 1)),
                 update(a),
                 with_kernel([k](auto i, auto j, auto row, auto a) { a(i, j) = (a(i, j) + 3 * row(k, j)) & 0xffff; },
                             "(i, j, row, a, k) { a(i, j) = (a(i, j) + 3 * row(k, j)) & 0xffff; }", k));
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        oracle[static_cast<std::size_t>(i * n + j)] =
            (oracle[static_cast<std::size_t>(i * n + j)] + 3 * oracle[static_cast<std::size_t>(k * n + j)]) & 0xffff;
  }
  const auto seen = a.read();
  ASSERT_TRUE(std::ranges::equal(seen.elements(), oracle));
}

std::uint64_t changes_of(const array<std::int64_t>& x) {
  return x.handle().rows(std::source_location::current())->tiles().changes();
}

/// Loops over fewer and fewer rows, which leave the arrays in their tiles.
TEST_P(region_copies, loops_that_shrink_keep_the_tiles) {
  constexpr std::int64_t n = 64;
  auto a = model.make_array<std::int64_t>("a", {n}), b = model.make_array<std::int64_t>("b", {n});
  number(a);
  number(b);
  std::vector<std::int64_t> oracle(n);
  std::iota(oracle.begin(), oracle.end(), 0);
  std::uint64_t changes = 0;
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    model.region(
        "shrink", {.policy = policy::flatten, .split_over = {0, n}}, iterate(k + 1, n), read(b), update(a),
        with_kernel([k](auto i, auto b, auto a) { a[i] += b[i] * k; }, "(i, b, a, k) { a[i] += b[i] * k; }", k));
    for (std::int64_t i = k + 1; i < n; ++i) oracle[static_cast<std::size_t>(i)] += i * k;
    const std::uint64_t now = changes_of(a) + changes_of(b);
    if (k == 0) changes = now;
    ASSERT_EQ(now, changes) << k;
  }
  const std::vector<region_row> rows = model.regions();
  EXPECT_EQ(rows.back().shares.size(), 1u);  // the last row's leaf alone
  {
    const auto seen = a.read();
    ASSERT_TRUE(std::ranges::equal(seen.elements(), oracle));
  }
  const auto refuses = [&](const char* text, const iteration_space<1>& over, std::array<std::int64_t, 2> rows_split) {
    const error e =
        error_of([&] { model.region("r", {.split_over = rows_split}, over, update(a), [](auto, auto) {}); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  };
  refuses("its loop from 3 to 64 in steps of 1 is no part of rows 4 to 64", iterate(3, n), {4, n});
  refuses("its loop from 0 to 64 in steps of 2 is no part of rows 0 to 64", iterate(0, n, 2), {0, n});
  refuses("it splits rows 0 to 65, and array 'a' has 64 rows", iterate(0, n), {0, n + 1});
}

/// Elimination reads row after row of what is on a device: a short tile comes home for each of them, not all rows that
/// are left.
TEST(region_eliminations, bring_home_little_of_what_a_device_has) {
  constexpr std::int64_t n = 256, columns = 64;
  runtime rt(testing::with_sims(1, "16 MiB"));
  location_model model(rt);
  auto a = model.make_array<std::int64_t>("a", {n, columns});
  {
    auto all = a.write();
    for (std::int64_t p = 0; p < n * columns; ++p) all[p] = p % 7;
  }
  std::vector<std::int64_t> oracle(static_cast<std::size_t>(n * columns));
  for (std::size_t p = 0; p < oracle.size(); ++p) oracle[p] = static_cast<std::int64_t>(p % 7);
  const std::uint64_t before = rt.statistics().bytes_transferred();
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    model.region("eliminate", {.policy = policy::static_split, .at = "sim0"}, iterate({k + 1, n}, {0, columns}),
                 read(a, rows(k, k + 1)), update(a),
                 with_kernel([k](auto i, auto j, auto row, auto to) { to(i, j) = (to(i, j) * 3 + row(k, j)) % 101; },
                             "(i, j, row, to, k) { to(i, j) = (to(i, j) * 3 + row(k, j)) % 101; }", k));
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        std::int64_t& to = oracle[static_cast<std::size_t>(i * columns + j)];
        to = (to * 3 + oracle[static_cast<std::size_t>(k * columns + j)]) % 101;
      }
  }
  EXPECT_TRUE(std::ranges::equal(a.read().elements(), oracle));
  // Were all rows that are left to come home at each step, it would be 256 times the array.
  EXPECT_LT(rt.statistics().bytes_transferred() - before, std::uint64_t{64 * 8 * n * columns});
}

TEST_P(region_copies, arrays_are_not_read_where_they_are_written) {
  auto x = model.make_array<double>("x", {100});
  const auto nothing = [](auto...) {};
  const auto refuses = [&](const char* text, const auto&... uses) {
    const error e = error_of([&] { model.region("r", iterate(50, 100), uses..., nothing); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  };
  refuses("it writes rows 50 to 100, and reads rows 0 to 51", read(x, rows(0, 51)), write(x));
  refuses("it writes rows 50 to 100, and reads rows 49 to 99", write(x), read(x, offset(-1)));
  refuses("names array 'x' twice", read(x, rows(0, 2)), read(x, rows(0, 1)));
  model.region("no rows", iterate(50, 100), read(x, rows(70, 70)), update(x), nothing);
  model.fence();
  refuses("names array 'x' three times", read(x, rows(0, 2)), write(x), read(x, rows(4, 5)));
}

// ---- views of one thread

TEST_P(region_copies, views_of_one_thread_do_not_wait_for_each_other) {
  auto x = model.make_array<std::int64_t>("x", {100});
  number(x);
  const auto refuses = [&](const char* text, const auto& call) {
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  };
  {
    const auto first = x.read();
    const auto second = x.read(), part = x.rows(10, 20).read();
    EXPECT_EQ(second[99] + part[10], 109);
    refuses("this thread holds a view of rows 0 to 100 of array 'x'", [&] { (void)x.write(); });
  }
  {
    const auto first = x.update();
    refuses("a second one would wait for it", [&] { (void)x.rows(0, 1).read(); });
  }
  {
    std::optional first(x.rows(0, 10).read());
    number(x);
    refuses("for a region that was submitted since", [&] { (void)x.rows(50, 60).read(); });
    first.reset();
    EXPECT_EQ(x.rows(50, 60).read()[59], 59);
  }
  {
    std::optional first(x.rows(0, 10).write());
    for (std::int64_t i = 0; i < 10; ++i) (*first)[i] = i;
    std::optional<region_result<std::int64_t>> r(std::in_place, rt, "r");
    model.region("sum", iterate(0, 100), read(x), sum(*r), [](auto i, auto x, auto& s) { s += x[i]; });
    refuses("for a region that was submitted since", [&] { (void)x.rows(50, 60).write(); });
    first.reset();
    EXPECT_EQ(r->get(), 4950);
  }
}

/// A thread that looks at an array may have regions read it, in whatever split.
TEST_P(region_copies, views_that_read_do_not_hold_up_what_reads) {
  auto x = model.make_array<std::int64_t>("x", {200}), y = model.make_array<std::int64_t>("y", {200});
  number(x);
  region_result<std::int64_t> total(rt, "total");
  {
    const auto first = x.read();
    model.region("sum", {.policy = policy::flatten}, iterate(0, 200), read(x), sum(total),
                 [](auto i, auto x, auto& s) { s += x[i]; });
    EXPECT_EQ(total.get(), 19'900);
    model.region("copy", {.policy = policy::percentage({10, 90})}, iterate(1, 199), read(x, halo(1)), write(y),
                 with_kernel([](auto i, auto x, auto y) { y[i] = x[i - 1] + x[i + 1]; },
                             "(i, x, y) { y[i] = x[i - 1] + x[i + 1]; }"));
    EXPECT_EQ(y.rows(1, 199).read()[100], 200);
    const auto again = x.rows(10, 20).read();
    EXPECT_EQ(again[19], 19);
  }
  {
    const auto first = x.rows(0, 10).update();
    model.region("sum", {.policy = policy::any}, iterate(0, 200), read(x), sum(total),
                 [](auto i, auto x, auto& s) { s += x[i]; });  // waits for the view
    EXPECT_EQ(x.rows(50, 60).read()[59], 59);
  }
  EXPECT_EQ(total.get(), 19'900);
  number(x);
  model.fence();
}

// ---- distances

TEST(region_distances, follow_the_region_that_uses_them) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4));
  location_model model(rt);
  auto near = model.make_array<std::int64_t>("near", {100}, {.distance = array_distance::near()}),
       above = model.make_array<std::int64_t>("above", {100}, {.distance = array_distance::far(1)}),
       top = model.make_array<std::int64_t>("top", {100}, {.distance = array_distance::far(9)});
  const auto add = [&](const region_options& options) {
    model.region("add", options, iterate(0, 100), update(near), update(above), update(top),
                 [](auto i, auto a, auto b, auto c) { a[i] += i, b[i] += 2 * i, c[i] += 3 * i; });
  };
  add({.policy = policy::flatten, .at = "numa0"});
  EXPECT_EQ(near.location(), "numa0");
  EXPECT_EQ(above.location(), model.tree()->at(model.tree()->at(*model.tree()->find("numa0")).parent).properties.name);
  EXPECT_EQ(top.location(), "machine");
  add({.policy = policy::range({0, 0, 100, 0})});  // one leaf alone executes
  EXPECT_EQ(near.location(), "core2");
  EXPECT_EQ(above.location(), "numa1");
  add({.policy = policy::flatten, .at = "numa0"});  // kept, and moved
  EXPECT_EQ(near.location(), "numa0");
  EXPECT_EQ(near.read()[99], 3 * 99);
  EXPECT_EQ(above.read()[99], 6 * 99);
  EXPECT_EQ(top.read()[99], 9 * 99);
}

TEST(region_distances, of_memory_of_the_program) {
  std::vector<std::int64_t> memory(100, 1);
  runtime rt(testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4));
  location_model model(rt);
  {
    auto near = model.adopt("near", std::span(memory), {100}, {.distance = array_distance::near()});
    for (const char* at : {"numa1", "numa0"}) {
      model.region("add", {.policy = policy::flatten, .at = at}, iterate(0, 100), update(near),
                   [](auto i, auto x) { x[i] += i; });
      EXPECT_EQ(near.location(), at);
    }
    EXPECT_NE(error_of([&] { (void)model.adopt("again", std::span(memory), {100}); })
                  .message()
                  .find("memory that array 'near' has"),
              std::string::npos);
  }
  model.fence();
  EXPECT_EQ(memory[99], 1 + 2 * 99);
}

TEST(region_distances, may_give_memory_back_after_each_region) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto fresh = model.make_array<std::int64_t>("fresh", {1000},
                                              {.distance = array_distance::near(array_distance::form::realloc)});
  auto seen = model.make_array<std::int64_t>("seen", {1000});
  const std::string& name = fresh.name();
  for (int k = 1; k <= 3; ++k)
    model.region("scratch", iterate(0, 1000), write(fresh), write(seen), [k](auto i, auto fresh, auto seen) {
      seen[i] = fresh[i];  // pages that nobody has touched; a program must not look
      fresh[i] = k;
      seen[i] = 10 * seen[i] + fresh[i];
    });
  for (const std::int64_t v : seen.read()) ASSERT_EQ(v, 3);
  EXPECT_EQ(&fresh.name(), &name);  // what other threads may look at is not made again
  const auto refuses = [&](const char* text, const auto& call) {
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  };
  refuses("reads array 'fresh', which is made again for each region",
          [&] { model.region("r", iterate(0, 1000), update(fresh), [](auto, auto) {}); });
  refuses("array 'fresh' is made again for each region, and replays",
          [&] { (void)rt.record([&] { model.region("r", iterate(0, 1000), write(fresh), [](auto, auto) {}); }); });
  refuses("array 'fresh' is made again for each region, and has nothing", [&] { (void)fresh.read(); });
  std::vector<double> memory(10);
  const array_distance again = array_distance::near(array_distance::form::realloc);
  refuses("array 'm' would be made again for each region, and has memory of its own",
          [&] { (void)model.adopt("m", std::span(memory), {10}, {.distance = again}); });
  refuses("array 'm' is placed at 'machine' and by distance",
          [&] { (void)model.make_array<double>("m", {10}, {.at = "machine", .distance = array_distance::near()}); });
}

/// Parts of one buffer of the program, as several arrays: at interior addresses, with what is between untouched.
TEST_P(region_copies, go_between_parts_of_the_programs_own_memory) {
  std::vector<std::int64_t> buffer(5000, -1);
  rt.register_memory(buffer.data(), buffer.size() * sizeof(std::int64_t));
  {
    auto x = model.adopt("x", std::span(buffer).subspan(3, 1000), {1000});
    auto y = model.adopt("y", std::span(buffer).subspan(1501, 1000), {10, 100});
    number(x);
    number(y);
    model.region("twice", {.policy = policy::flatten}, iterate(0, 1000), update(x),
                 with_kernel([](auto i, auto x) { x[i] *= 2; }, "(i, x) { x[i] *= 2; }"));
    EXPECT_EQ(x.read().elements().size(), 1000u);
    const error e = error_of([&] { (void)model.adopt("z", std::span(buffer).subspan(1002, 10), {10}); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("array 'z' would have memory that array 'x' has"), std::string::npos);
    EXPECT_EQ(error_of([&] { rt.unregister_memory(buffer.data()); }).kind(), error_kind::usage);
  }
  model.fence();
  rt.unregister_memory(buffer.data());
  for (std::int64_t p = 0; p < 5000; ++p)
    ASSERT_EQ(buffer[static_cast<std::size_t>(p)], p >= 3 && p < 1003      ? 2 * (p - 3)
                                                   : p >= 1501 && p < 2501 ? p - 1501
                                                                           : -1)
        << p;
}

}  // namespace
}  // namespace tessera
