// Tasks that name rows of arrays, beside regions, views and blocks: one array for all of them.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "hierarchy/region/storage.hpp"
#include "tessera/detail/linear_algebra.hpp"
#include "tessera/region.hpp"
#include "tests/integration/regions/rows_setting.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

static_assert(std::is_same_v<decltype(std::declval<location_model&>().make_array<double>("x", {1, 2})),
                             decltype(std::declval<runtime&>().make_array<double>("x", {1, 2}, {1, 2}))>,
              "an array is one type, with blocks and without");

INSTANTIATE_TEST_SUITE_P(machines, task_rows, rows_settings(), rows_setting::name_of);

std::uint64_t cuts_of(const array<std::int64_t>& x) {
  return x.handle().rows(std::source_location::current())->tiles().changes();
}

TEST_P(task_rows, are_those_that_regions_and_views_see) {
  auto u = model.make_array<double>("u", {1000, 8});
  auto v = rt.make_array<double>("v", {10}, {5});
  for (std::int64_t k = 0; k < 10; ++k)
    rt.submit(
        "first",
        [k](auto u) {
          for (double& x : u) x = double(k);
          u(100 * k + 3, 7) = -double(k);
        },
        write(u.rows(100 * k, 100 * k + 100)));
  model.region("more", iterate(0, 1000), update(u),
               with_kernel(
                   [](auto i, auto u) {
                     for (std::int64_t j = 0; j < 8; ++j) u(i, j) += 1;
                   },
                   inner(8), "(i, j, u) { u(i, j) += 1; }"));
  rt.submit(
      "some",
      [](task_context here, rows_view<const double, 2> u, view<double> v) {
        std::ranges::fill(v, 0);
        v[0] = u(303, 7) + 10 * u(999, 0);
        v[1] = here.name() == "some" && u.extent(0) == 1000 && u.extent(1) == 8;
      },
      read(u), write(v(0)));
  rt.submit(
      "counted",
      [](auto u, auto v) {
        std::ranges::fill(v, 0);
        v[0] = double(u.first() + u.last() + u.size());
        v[1] = std::accumulate(u.begin(), u.end(), 0.0);
        v[2] = double(u.elements().size()) + u[50 * 8];
      },
      read(u.rows(50, 150)), write(v(1)));
  const auto some = v(0).read(), counted = v(1).read();
  EXPECT_EQ(some[0], -3 + 1 + 10 * 10);
  EXPECT_EQ(some[1], 1);
  EXPECT_EQ(counted[0], 50 + 150 + 800);
  EXPECT_EQ(counted[1], 50 * 8 * 1 + 50 * 8 * 2 - 2);
  EXPECT_EQ(counted[2], 800 + 1);
  EXPECT_EQ(u.rows(303, 304).read()(303, 7), -2);
}

/// Tasks over any rows, regions and views of three arrays, one of them in blocks, beside an oracle.
TEST_P(task_rows, of_random_programs_hold_what_these_made) {
  constexpr std::int64_t n = 300;
  std::mt19937_64 random(17);
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % std::uint64_t(most)); };
  for (int program = 0; program < 6; ++program) {
    std::vector<array<std::int64_t>> arrays;
    arrays.push_back(model.make_array<std::int64_t>("a", {n}));
    arrays.push_back(model.make_array<std::int64_t>("b", {n}));
    arrays.push_back(rt.make_array<std::int64_t>("blocks", {n}, {1 + below(80)}));
    std::vector<std::vector<std::int64_t>> oracle(3, std::vector<std::int64_t>(n, 0));
    for (const auto& x : arrays) model.region("zero", iterate(0, n), write(x), [](auto i, auto x) { x[i] = 0 * i; });
    for (int step = 0; step < 60; ++step) {
      const std::size_t to = std::size_t(below(3)), from = (to + 1 + std::size_t(below(2))) % 3;
      const std::int64_t first = below(n), last = first + 1 + below(n - first), add = below(100);
      array<std::int64_t>&x = arrays[from], &y = arrays[to];
      std::vector<std::int64_t>&in = oracle[from], &out = oracle[to];
      switch (below(5)) {
        case 0:  // of the same rows
          rt.submit(
              "add",
              [add](auto x, auto y) {
                for (std::int64_t i = y.first(); i < y.last(); ++i) y[i] = x[i] + add;
              },
              read(x.rows(first, last)), write(y.rows(first, last)));
          for (std::int64_t i = first; i < last; ++i) out[std::size_t(i)] = in[std::size_t(i)] + add;
          break;
        case 1: {  // a sum of all into one row
          rt.submit(
              "sum", [first](auto x, auto y) { y[first] += std::accumulate(x.begin(), x.end(), std::int64_t{0}); },
              read(x), update(y.rows(first, first + 1)));
          out[std::size_t(first)] += std::accumulate(in.begin(), in.end(), std::int64_t{0});
          out[std::size_t(first)] %= 1000;
          rt.submit(
              "cut", [first](auto y) { y[first] %= 1000; }, update(y.rows(first, first + 1)));
          break;
        }
        case 2:
          model.region("shift", {.policy = below(2) == 0 ? policy::static_split : policy::any}, iterate(0, n), read(x),
                       update(y),
                       with_kernel([add](auto i, auto x, auto y) { y[i] = (y[i] + x[i] + add) % 1000; },
                                   "(i, x, y, add) { y[i] = (y[i] + x[i] + add) % 1000; }", add));
          for (std::size_t i = 0; i < std::size_t(n); ++i) out[i] = (out[i] + in[i] + add) % 1000;
          break;
        case 3: {
          const auto seen = y.rows(first, last).update();
          for (std::int64_t i = first; i < last; ++i) ASSERT_EQ(seen[i], out[std::size_t(i)]) << program << ' ' << step;
          seen[first] = out[std::size_t(first)] = add;
          break;
        }
        case 4: {  // rows of one array to others of it
          const std::int64_t half = (last - first) / 2;
          if (half == 0 || to == 2) break;
          rt.submit(
              "halves", [](auto x, auto y) { std::copy(x.begin(), x.end(), y.begin()); },
              read(y.rows(first, first + half)), write(y.rows(first + half, first + 2 * half)));
          std::copy_n(out.begin() + first, half, out.begin() + first + half);
          break;
        }
      }
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const auto seen = arrays[k].read();
      ASSERT_TRUE(std::ranges::equal(seen.elements(), oracle[k])) << program << ' ' << k;
    }
  }
}

TEST_P(task_rows, are_cut_once_where_a_loop_names_the_same_ones) {
  static constexpr std::int64_t n = 400;
  constexpr std::int64_t per_task = 40;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  model.region("zero", {.policy = policy::any}, iterate(0, n), write(x), write(y),
               [](auto i, auto x, auto y) { x[i] = i, y[i] = 0; });
  std::uint64_t changes = 0;
  for (int round = 0; round < 5; ++round) {
    for (std::int64_t first = 0; first < n; first += per_task) {
      const std::int64_t before = std::max<std::int64_t>(first - 1, 0), last = first + per_task,
                         behind = std::min(last + 1, n);
      rt.submit(
          "smooth",
          [](auto x, auto y) {
            for (std::int64_t i = y.first(); i < y.last(); ++i)
              y[i] = (i > 0 ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0);
          },
          read(x.rows(before, behind)), write(y.rows(first, last)));
    }
    std::swap(x, y);
    const std::uint64_t now = cuts_of(x) + cuts_of(y);
    if (round > 1) {
      ASSERT_EQ(now, changes) << round;
    }
    changes = now;
  }
  std::vector<std::int64_t> expected(n), next(n);
  std::iota(expected.begin(), expected.end(), 0);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < std::size_t(n); ++i)
      next[i] = (i > 0 ? expected[i - 1] : 0) + (i + 1 < std::size_t(n) ? expected[i + 1] : 0);
    expected.swap(next);
  }
  EXPECT_TRUE(std::ranges::equal(x.read().elements(), expected));
}

TEST_P(task_rows, of_an_array_in_blocks_are_gathered_and_put_back) {
  auto x = rt.make_array<double>("x", {50, 3}, {7, 3});
  for (std::size_t k = 0; k < x.size(); ++k) fill(rt, x.block(k), 1);
  rt.submit(
      "over borders",
      [](auto x) {
        for (std::int64_t i = x.first(); i < x.last(); ++i) x(i, 2) = double(i);
      },
      update(x.rows(5, 30)));
  EXPECT_EQ(x(0, 0).read()(4, 2), 1);
  EXPECT_EQ(x(0, 0).read()(5, 2), 5);
  EXPECT_EQ(x(4, 0).read()(1, 2), 29);
  EXPECT_EQ(x(4, 0).read()(2, 2), 1);
  rt.submit(
      "rows and a block", [](auto all, auto last) { last(0, 0) = all(29, 2) + all(3, 0); }, read(x.rows(0, 30)),
      update(x(7, 0)));
  EXPECT_EQ(x.read()(49, 0), 30);
}

TEST_P(task_rows, in_recordings) {
  static constexpr std::int64_t n = 90;
  auto x = model.make_array<std::int64_t>("x", {n}), y = model.make_array<std::int64_t>("y", {n});
  model.region("start", iterate(0, n), write(x), write(y), [](auto i, auto x, auto y) { x[i] = i, y[i] = 0; });
  const auto step = [&] {
    for (std::int64_t first = 0; first < n; first += 30)
      rt.submit(
          "more",
          [](auto x, auto y) {
            for (std::int64_t i = y.first(); i < y.last(); ++i) y[i] += x[(i + 7) % n];
          },
          read(x), update(y.rows(first, first + 30)));
    model.region("back", {.policy = policy::percentage({20, 80})}, iterate(0, n), read(y), update(x),
                 [](auto i, auto y, auto x) { x[i] = (x[i] + y[i]) % 1000; });
  };
  step();
  recording steps = rt.record(step);
  rt.replay(steps);
  rt.submit(
      "between", [](auto x) { x[n - 1] += 1; }, update(x.rows(n - 10, n)));
  rt.replay(steps);
  step();
  std::vector<std::int64_t> a(n), b(n, 0);
  std::iota(a.begin(), a.end(), 0);
  for (int k = 0; k < 4; ++k) {
    if (k == 2) a.back() += 1;
    for (std::size_t i = 0; i < std::size_t(n); ++i) b[i] += a[(i + 7) % std::size_t(n)];
    for (std::size_t i = 0; i < std::size_t(n); ++i) a[i] = (a[i] + b[i]) % 1000;
  }
  EXPECT_TRUE(std::ranges::equal(x.read().elements(), a));
  EXPECT_TRUE(std::ranges::equal(y.read().elements(), b));
}

TEST_P(task_rows, of_several_threads) {
  auto x = model.make_array<std::int64_t>("x", {120});
  model.region("zero", iterate(0, 120), write(x), [](auto i, auto x) { x[i] = 0 * i; });
  const auto add = [&](std::int64_t offset) {
    for (int round = 0; round < 50; ++round)
      rt.submit(
          "add",
          [](auto x) {
            for (std::int64_t& v : x) v += 1;
          },
          update(x.rows(offset + round % 7, offset + 60)));
  };
  std::thread other([&] { add(60); });
  add(0);
  other.join();
  rt.submit("inside a task", [&] {
    rt.submit(
        "inner", [](auto x) { x[0] += 1000; }, update(x.rows(0, 1)));
  });
  rt.fence();
  const auto seen = x.read();
  EXPECT_EQ(seen[0], 8 + 1000);
  EXPECT_EQ(seen[6], 50);
  EXPECT_EQ(seen[59], 50);
  EXPECT_EQ(seen[60], 8);
  EXPECT_EQ(seen[119], 50);
}

TEST_P(task_rows, with_all_kinds_of_functions_and_elements) {
  struct cell {
    double density;
    std::int16_t kind[3];
  };
  auto cells = model.make_array<cell>("cells", {40, 2, 3});
  auto kept = std::make_unique<int>(7);
  rt.submit(
      "owns",
      [kept = std::move(kept)](named_rows_view<cell, 3> c) {
        for (cell& one : c) one = {0, {0, 0, 0}};
        c(39, 1, 2).density = *kept;
      },
      write(cells));
  const std::function<void(rows_view<cell, 3>)> named = [](rows_view<cell, 3> c) { c(39, 1, 2).kind[1] = 3; };
  rt.submit("std::function", {.priority = 1}, named, update(cells.rows(39, 40)));
  task_group group(rt);
  rt.submit(
      "in a group", {.group = &group}, [](auto c) { c(39, 0, 0).density = c(39, 1, 2).kind[1] + 1; },
      update(cells, rows(39, 40)));
  rt.fence(group);
  const auto seen = cells.read();
  EXPECT_EQ(seen(39, 1, 2).density, 7);
  EXPECT_EQ(seen(39, 0, 0).density, 4);
  EXPECT_EQ(seen.size(), 40 * 6);
}

TEST_P(task_rows, are_rows_that_each_iteration_of_a_region_reads) {
  auto x = model.make_array<double>("x", {100}), y = model.make_array<double>("y", {100});
  model.region("start", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = double(i); });
  model.region("r", iterate(0, 100), read(x.rows(97, 99)), write(y),
               [](auto i, auto x, auto y) { y[i] = x[97] + x[98] + double(i); });
  EXPECT_EQ(y.read()[5], 200);
}

TEST_P(task_rows, that_fail_cannot_be_read_until_they_are_written) {
  auto x = model.make_array<double>("x", {100});
  model.region("start", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = double(i); });
  rt.submit(
      "fails", [](auto) { throw std::runtime_error("no"); }, update(x.rows(10, 20)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("fails"));
  EXPECT_THAT(error_of([&] { (void)x.rows(12, 13).read(); }).what(), HasSubstr("fails"));
  rt.submit(
      "again", [](auto x) { std::fill(x.begin(), x.end(), 3); }, write(x.rows(10, 20)));
  EXPECT_EQ(x.read()[12], 3);
}

TEST_P(task_rows, are_gone_over_by_operations) {
  auto x = model.make_array<double>("x", {100, 2}), y = model.make_array<double>("y", {100, 2});
  fill(rt, x, 3);
  model.region("split", {.policy = policy::flatten}, iterate(0, 100), write(y),
               [](auto i, auto y) { y(i, 0) = double(i), y(i, 1) = 1; });
  axpy(rt, 2, x, y);
  scal(rt, 0.5, y);
  fill(rt, y.rows(10, 13), 7);
  axpy(rt, 1, y.rows(10, 20), y.rows(90, 100));
  const auto seen = y.read();
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto made = [&](std::int64_t row) { return row >= 10 && row < 13 ? 7 : (double(row) + 6) / 2; };
    ASSERT_EQ(seen(i, 0), made(i) + (i >= 90 ? made(i - 80) : 0)) << i;
    ASSERT_EQ(seen(i, 1), (i >= 10 && i < 13 ? 7 : 3.5) * 1 + (i < 90 ? 0 : i - 80 < 13 ? 7 : 3.5)) << i;
  }
}

TEST_P(task_rows, and_blocks_of_any_cut_are_gone_over_by_operations) {
  auto tiles = rt.make_matrix<double>("tiles", {10, 10}, {4, 5}),
       more = rt.make_matrix<double>("more", {10, 10}, {4, 5});
  fill(rt, tiles, 1);
  fill(rt, more, 2);
  axpy(rt, 3, tiles, more);
  scal(rt, 2, more);
  for (std::size_t k = 0; k < more.size(); ++k)
    for (const double v : more.block(k).read()) ASSERT_EQ(v, 10) << k;
  auto blocks = rt.make_array<double>("blocks", {100}, {30});
  auto free = model.make_array<double>("free", {100});
  fill(rt, blocks, 1);
  fill(rt, free, 5);
  axpy(rt, 1, blocks, free);  // cut as the one that has blocks
  axpy(rt, 1, free.rows(30, 60), blocks.rows(60, 90));
  EXPECT_EQ(free.read()[99], 6);
  EXPECT_EQ(blocks.read()[59], 1);
  EXPECT_EQ(blocks.read()[60], 7);
  const auto step = [&] {
    scal(rt, 2, free);
    axpy(rt, 1, free, blocks);
  };
  recording steps = rt.record(step);
  rt.replay(steps);
  rt.replay(steps);
  EXPECT_EQ(blocks.read()[0], 1 + 12 + 24);
  const auto refused = [&](auto&& call) { return std::string(error_of(call).what()); };
  EXPECT_THAT(refused([&] { fill(rt, blocks.rows(0, 40), 1); }),
              AllOf(HasSubstr("task 'fill' goes over rows 0 to 40 of array 'blocks', whose blocks end elsewhere"),
                    HasSubstr("task_rows_test.cpp")));
  auto others = rt.make_array<double>("others", {100}, {40});
  EXPECT_THAT(refused([&] { axpy(rt, 1, blocks, others); }), HasSubstr("whose blocks end elsewhere"));
  EXPECT_THAT(refused([&] { axpy(rt, 1, free, blocks.rows(0, 90)); }),
              AllOf(HasSubstr("axpy of 100 rows of 1 elements and 90 rows of 1"), HasSubstr("task_rows_test.cpp")));
  EXPECT_THAT(refused([&] { fill(rt, free.rows(0, 101), 1); }), HasSubstr("which has 100 rows"));
}

/// Rows of an array named one by one, in any order: each cut goes over a few tiles, however many there are.
TEST(task_rows_one_by_one, go_over_the_tiles_that_change) {
  static constexpr std::int64_t n = 3000;
  runtime rt(testing::host_only(2));
  const auto tiles_of = [](const array<std::int64_t>& x) -> tiled_memory& {
    return x.handle().rows(std::source_location::current())->tiles();
  };
  std::vector<std::int64_t> up(n), down, any;
  std::iota(up.begin(), up.end(), 0);
  down.assign(up.rbegin(), up.rend());
  any = up;
  std::ranges::shuffle(any, std::mt19937_64(3));
  const auto write_row = [&](array<std::int64_t>& x, std::int64_t k) {
    rt.submit(
        "row", [k](auto x) { x[k] = 7 * k; }, write(x.rows(k, k + 1)));
  };
  for (const std::vector<std::int64_t>& order : {up, down, any}) {
    auto x = rt.make_array<std::int64_t>("x", {n}), y = rt.make_array<std::int64_t>("y", {n}),
         z = rt.make_array<std::int64_t>("z", {n});
    for (const std::int64_t k : order) write_row(x, k);
    for (const std::int64_t k : order) y.rows(k, k + 1).write()[k] = 7 * k;
    for (const std::int64_t k : order) fill(rt, z.rows(k, k + 1), 7 * k);
    for (const array<std::int64_t>& one : {x, y, z}) {
      EXPECT_LE(tiles_of(one).visits(), 20u * n);
      EXPECT_EQ(tiles_of(one).tiles().size(), std::size_t(n));
      EXPECT_EQ(one.read()[n - 1], 7 * (n - 1));
      EXPECT_EQ(one.read()[n / 2], 7 * (n / 2));
    }
  }
  auto x = rt.make_array<std::int64_t>("x", {n});
  x.rows(0, n / 2).write()[0] = 5;
  recording first = rt.record([&] {
    rt.submit(
        "all", [](auto) {}, read(x));
  });
  std::uint64_t visits = 0;
  recording rows = rt.record([&] {  // the array's tiles stay: these rows are cut in the replays
    write_row(x, any[0]);
    const std::uint64_t before = tiles_of(x).visits();
    for (const std::int64_t k : any) write_row(x, k);
    visits = tiles_of(x).visits() - before;
  });
  EXPECT_LE(visits, 20u * n);
  rt.replay(rows);
  rt.replay(first);
  EXPECT_EQ(tiles_of(x).tiles().size(), 2u);
  EXPECT_EQ(x.read()[n - 1], 7 * (n - 1));
}

TEST(task_rows_refused, with_a_sentence) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto x = model.make_array<double>("x", {100});
  auto blocks = rt.make_array<double>("blocks", {100}, {50});
  for (std::size_t k = 0; k < 2; ++k) fill(rt, blocks.block(k), 1);
  const auto refused = [&](auto&& call) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.what(), HasSubstr("task_rows_test.cpp"));
    EXPECT_FALSE(e.hint().empty());
    EXPECT_EQ(rt.tasks_submitted(), before);
    return std::string(e.what());
  };
  const auto one = [](auto) {};
  const auto two = [](auto, auto) {};
  EXPECT_THAT(refused([&] { rt.submit("t", one, read(x.rows(90, 101))); }),
              HasSubstr("task 't' names rows 90 to 101 of array 'x', which has 100 rows"));
  EXPECT_THAT(refused([&] { rt.submit("t", one, write(x.rows(-1, 5))); }), HasSubstr("names rows -1 to 5"));
  EXPECT_THAT(refused([&] { rt.submit("t", one, update(x.rows(5, 4))); }), HasSubstr("names rows 5 to 4"));
  EXPECT_THAT(refused([&] { rt.submit("t", two, read(x.rows(0, 50)), update(x.rows(49, 60))); }),
              HasSubstr("names rows 0 to 50 and 49 to 60 of array 'x', and writes some of them twice"));
  EXPECT_THAT(refused([&] { rt.submit("t", two, read(blocks.rows(0, 10)), update(blocks.rows(20, 30))); }),
              HasSubstr("names rows 0 to 50 of array 'blocks' twice, which are one block"));
  EXPECT_THAT(refused([&] { rt.submit("t", two, update(blocks(0)), update(blocks.rows(20, 30))); }),
              HasSubstr("which are one block"));
  EXPECT_THAT(refused([&] { rt.submit("t", one, read(x, halo(1))); }), HasSubstr("a task uses array 'x' by halo"));
  rt.submit("t", two, read(x.rows(0, 50)), read(x.rows(40, 60)));  // nothing is written: as often as one likes
  auto tiles = rt.make_array<double>("tiles", {10, 10}, {5, 5});
  EXPECT_THAT(refused([&] { rt.submit("t", one, read(tiles.rows(0, 5))); }),
              HasSubstr("array 'tiles' is cut into blocks along dimension 1 too"));
  EXPECT_THAT(refused([&] { (void)tiles.read(); }), HasSubstr("along dimension 1 too"));
  runtime other(testing::host_only(1));
  EXPECT_THAT(refused([&] { other.submit("t", one, read(x.rows(0, 5))); }), HasSubstr("belongs to another runtime"));
  auto kept = std::move(x);
  EXPECT_THAT(refused([&] { rt.submit("t", one, read(x)); }), HasSubstr("moved from"));  // NOLINT
  rt.fence();
}

TEST(arrays_without_blocks, say_so_where_a_block_is_asked_for) {
  runtime rt(testing::host_only(1));
  location_model model(rt);
  auto x = model.make_array<double>("x", {100});
  auto matrix = model.make_array<double>("matrix", {10, 10});
  EXPECT_EQ(x.size(), 0u);
  EXPECT_EQ(matrix.counts(), (shape{0, 0}));
  for (const error& e : {error_of([&] { (void)x(0); }), error_of([&] { (void)x.block(0); }),
                         error_of([&] { (void)matrix(0, 0); }), error_of([&] { x.keep_to_this_thread(); })}) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("was made without blocks"), HasSubstr("task_rows_test.cpp"),
                                HasSubstr("x.rows(first, last)")));
  }
  x.flush();  // there is nothing to wait for
}

TEST(arrays, are_handles_that_share_blocks_and_rows) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  std::optional<array<double>> x = rt.make_array<double>("x", {100}, {10});
  const array<double> same = *x;
  for (std::size_t k = 0; k < x->size(); ++k) fill(rt, x->block(k), double(k));
  x.reset();
  model.region("more", iterate(0, 100), update(same), [](auto i, auto x) { x[i] += double(i); });
  EXPECT_EQ(same.read()[57], 62);
  EXPECT_EQ(same(5).read()[7], 62);
  EXPECT_EQ(same.location(), "machine");
  same.rows(50, 60).write()[57] = 1;
  EXPECT_EQ(same(5).read()[7], 1);
}

TEST(arrays, without_blocks_are_made_by_the_runtime_too) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {30, 4});
  static_assert(std::is_same_v<decltype(x), array<double, 2>>);
  for (std::int64_t k = 0; k < 3; ++k)
    rt.submit(
        "first", [](auto x) { std::fill(x.begin(), x.end(), double(x.first())); }, write(x.rows(10 * k, 10 * k + 10)));
  rt.submit(
      "all", [](rows_view<double, 2> x) { x(0, 1) = x(29, 3) + x(10, 0); }, update(x));
  EXPECT_EQ(x.read()(0, 1), 30);
  EXPECT_EQ(x.location(), "machine");
  {
    location_model model(rt);
    model.region("more", iterate(0, 30), update(x), [](auto i, auto x) { x(i, 1) += double(i); });
  }
  EXPECT_EQ(x.read()(29, 1), 49);
  EXPECT_THAT(error_of([&] { (void)rt.make_array<double>("y", {-1}); }).what(),
              AllOf(HasSubstr("array 'y' has extents -1"), HasSubstr("task_rows_test.cpp")));
}

/// Copies of validation lie one behind the other, with memory around them that nobody else has.
TEST(named_rows, that_were_gathered_find_writes_beside_them) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\nvalidate = true\n", 2));
  auto x = rt.make_array<double>("x", {40}, {10});
  fill(rt, x, 0);
  for (const std::int64_t row : {4, 25, 60}) {
    rt.submit(
        "beside", [row](auto rows) { rows[row] = 1; }, update(x.rows(5, 25)));
    EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("it writes beside rows 5 to 25, which it was given"));
    fill(rt, x, 0);
    rt.fence();
  }
  rt.submit(
      "inside", [](auto rows) { rows[5] = rows[24] = 1; }, update(x.rows(5, 25)));
  rt.fence();
  EXPECT_EQ(x.read()[24], 1);
}

TEST(arrays, of_a_rank_that_only_the_run_knows) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  for (std::size_t rank = 1; rank < 4; ++rank) {
    const std::vector<std::int64_t> extents(rank, 5);
    auto x = model.make_array<double>("x", std::span(extents));
    const std::int64_t width = x.extents().count() / 5;
    rt.submit(
        "rows", [width](auto x) { x[4 * width] = 3; }, write(x));
    model.region("all", iterate(0, 5), update(x), [width](auto i, auto x) { x[i * width] += 1; });
    EXPECT_EQ(x.rank(), rank);
    EXPECT_EQ(x.read()[4 * width], 4);
  }
  const std::vector<std::int64_t> four(4, 5);
  for (const auto& extents : {four, std::vector<std::int64_t>()})
    EXPECT_THAT(error_of([&] { (void)model.make_array<double>("x", std::span(extents)); }).what(),
                AllOf(HasSubstr(std::to_string(extents.size()) + " dimensions"), HasSubstr("one to three")));
}

}  // namespace
}  // namespace tessera
