// Regions over arrays that were given blocks: tasks and regions use the same array.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/detail/linear_algebra.hpp"
#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct kind_of_machine {
  const char* name;
  machine (*make)();
};

class blocks_in_regions : public ::testing::TestWithParam<kind_of_machine> {
 protected:
  runtime rt{GetParam().make()};
  location_model model{rt};
};
INSTANTIATE_TEST_SUITE_P(
    machines, blocks_in_regions,
    ::testing::Values(kind_of_machine{"host", [] { return testing::host_only(3); }},
                      kind_of_machine{"sim", [] { return testing::with_sims(2, "1 MiB", true); }},
                      kind_of_machine{"gpu", [] { return testing::with_gpus("cuda_emulated", 1, "4 MiB", ""); }}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(blocks_in_regions, tasks_fill_what_a_region_reads_and_read_what_it_writes) {
  const std::int64_t n = 1000, per_block = 128;
  auto x = rt.make_array<double>("x", {n}, {per_block}), y = rt.make_array<double>("y", {n}, {per_block});
  for (int round = 0; round < 3; ++round) {
    for (std::size_t k = 0; k < x.size(); ++k) fill(rt, x.block(k), static_cast<double>(k) + round);
    model.region(
        "twice", iterate(0, n), read(x), write(y),
        with_kernel([](auto i, auto x, auto y) { y[i] = 2 * x[i] + double(i); }, "(i, x, y) { y[i] = 2 * x[i] + i; }"));
    for (std::size_t k = 0; k < y.size(); ++k) axpy(rt, 1, x.block(k), y.block(k));
    for (std::int64_t i = 0; i < n; i += 37)
      ASSERT_EQ(y(i / per_block).read()[i % per_block], 3.0 * (double(i / per_block) + round) + double(i)) << i;
  }
}

TEST_P(blocks_in_regions, every_policy_splits_at_the_borders_of_what_is_written) {
  const std::int64_t n = 777;
  for (const std::int64_t per_block : {1000, 200, 64, 7})
    for (const char* by : {"static", "flatten", "any", "auto"}) {
      auto x = rt.make_array<std::int64_t>("x", {n}, {per_block});
      const std::uint64_t before = rt.tasks_submitted();
      model.region("number", {.policy = region_policy::from_text(by)}, iterate(0, n), write(x),
                   with_kernel([](auto i, auto x) { x[i] = 3 * i; }, "(i, x) { x[i] = 3 * i; }"));
      EXPECT_LE(rt.tasks_submitted() - before, x.size()) << "a task has whole blocks";
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(x(i / per_block).read()[i % per_block], 3 * i) << by;
    }
}

TEST_P(blocks_in_regions, rows_of_neighbours_come_from_other_blocks) {
  const std::int64_t rows = 60, columns = 11;
  auto now = rt.make_array<double>("now", {rows, columns}, {8, columns}),
       next = rt.make_array<double>("next", {rows, columns}, {13, columns});
  model.region("start", iterate(0, rows), write(now),
               with_kernel(
                   [](auto i, auto now) {
                     for (std::int64_t j = 0; j < 11; ++j) now(i, j) = double(i * i + j);
                   },
                   inner(columns), "(i, j, now) { now(i, j) = (double)(i * i + j); }"));
  model.region("zero", iterate(0, rows), write(next),
               with_kernel(
                   [](auto i, auto next) {
                     for (std::int64_t j = 0; j < 11; ++j) next(i, j) = 0;
                   },
                   inner(columns), "(i, j, next) { next(i, j) = 0; }"));
  model.region("step", iterate(1, rows - 1), read(now, halo(1)), update(next),
               with_kernel(
                   [](auto i, auto now, auto next) {
                     for (std::int64_t j = 0; j < 11; ++j) next(i, j) += now(i - 1, j) + now(i + 1, j);
                   },
                   inner(columns), "(i, j, now, next) { next(i, j) += now(i - 1, j) + now(i + 1, j); }"));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const double expected = i == 0 || i == rows - 1 ? 0 : double((i - 1) * (i - 1) + (i + 1) * (i + 1) + 2 * j);
      ASSERT_EQ(next(i / 13, 0).read()(i % 13, j), expected) << i << ' ' << j;
    }
}

TEST_P(blocks_in_regions, with_arrays_that_are_cut_as_they_are_used) {
  const std::int64_t n = 500;
  auto blocks = rt.make_array<double>("blocks", {n}, {64});
  auto free = model.make_array<double>("free", {n});
  for (int round = 0; round < 4; ++round) {
    model.region("fill", {.policy = round % 2 == 0 ? policy::static_split : policy::any}, iterate(0, n), write(free),
                 with_kernel([round](auto i, auto free) { free[i] = double(i + round); },
                             "(i, free, round) { free[i] = (double)(i + round); }", round));
    model.region("over", iterate(n - 1, -1, -1), read(free), write(blocks),
                 with_kernel([](auto i, auto free, auto blocks) { blocks[i] = 1 - free[i]; },
                             "(i, free, blocks) { blocks[i] = 1 - free[i]; }"));
    model.region("back", iterate(0, n), read(blocks), write(free),
                 with_kernel([](auto i, auto blocks, auto free) { free[i] = 2 * blocks[i]; },
                             "(i, blocks, free) { free[i] = 2 * blocks[i]; }"));
    const auto seen = free.read();
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 2 * (1 - double(i + round))) << i;
  }
}

TEST_P(blocks_in_regions, in_recordings_with_tasks) {
  const std::int64_t n = 100;
  auto x = rt.make_array<double>("x", {n}, {16});
  for (std::size_t k = 0; k < x.size(); ++k) fill(rt, x.block(k), 1);
  const auto step = [&] {
    model.region("more", iterate(0, n), update(x),
                 with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += 1; }"));
    for (std::size_t k = 0; k < x.size(); ++k) scal(rt, 2, x.block(k));
  };
  step();
  recording steps = rt.record(step);
  rt.replay(steps);
  rt.replay(steps);
  step();
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_EQ(x.block(k).read()[0], 46);  // 4, 10, 22, 46
}

TEST_P(blocks_in_regions, reductions_and_parts_of_loops) {
  const std::int64_t n = 90;
  auto x = rt.make_array<double>("x", {n}, {20});
  region_result<double> total(rt, "total");
  for (std::size_t k = 0; k < x.size(); ++k) fill(rt, x.block(k), 1);
  model.region("middle", iterate(15, 75), write(x), [](auto i, auto x) { x[i] = double(i); });
  model.region("every third", iterate(1, 89, 3), update(x), [](auto i, auto x) { x[i] += 100; });
  model.region("sum", iterate(0, n), read(x), sum(total), [](auto i, auto x, double& s) { s += x[i]; });
  double expected = 0;
  for (std::int64_t i = 0; i < n; ++i)
    expected += (i >= 15 && i < 75 ? double(i) : 1) + (i % 3 == 1 && i < 89 ? 100 : 0);
  EXPECT_EQ(total.get(), expected);
}

TEST(blocks_in_regions_refused, with_a_sentence) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  auto tiles = rt.make_array<double>("tiles", {10, 10}, {5, 5});
  const error e =
      error_of([&] { model.region("r", iterate(0, 10), update(tiles), [](auto i, auto t) { t(i, 0) = 1; }); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("array 'tiles' is cut into blocks along dimension 1 too"),
                              HasSubstr("blocks_test.cpp"), HasSubstr("along its first dimension alone")));
  auto x = rt.make_array<double>("x", {10}, {5});
  model.region("never written", iterate(2, 8), update(x), [](auto i, auto x) { x[i] += 1; });
  EXPECT_THAT(error_of([&] { model.fence(); }).what(), HasSubstr("before it was ever written"));
  auto moved = std::move(x);
  EXPECT_THAT(error_of([&] { model.region("r", iterate(0, 10), write(x), [](auto i, auto x) { x[i] = 1; }); }).what(),
              HasSubstr("was moved from"));
  model.region("r", iterate(0, 10), write(moved), [](auto i, auto x) { x[i] = double(i); });
  EXPECT_EQ(moved(1).read()[4], 9);
  runtime other(testing::host_only(1));
  auto y = other.make_array<double>("y", {10}, {5});
  EXPECT_THAT(error_of([&] { model.region("r", iterate(0, 10), write(y), [](auto i, auto y) { y[i] = 1; }); }).what(),
              HasSubstr("belongs to another runtime"));
}

/// What no operation knows.
struct cell {
  float density;
  std::int16_t neighbours[3];
};

TEST(elements_of_the_program, are_used_by_regions) {
  runtime rt(testing::host_only(3));
  location_model model(rt);
  const std::int64_t rows = 40, columns = 6;
  auto blocks = rt.make_array<cell>("blocks", {rows, columns}, {7, columns});
  auto free = model.make_array<cell>("free", {rows, columns});
  EXPECT_EQ(free.extents(), (shape{rows, columns}));
  model.region("start", iterate({0, rows}, {0, columns}), write(blocks), [](auto i, auto j, auto b) {
    b(i, j) = {float(i), {1, std::int16_t(j), 3}};
  });
  model.region("shift", iterate(1, rows - 1), read(blocks, halo(1)), update(free), [](auto i, auto b, auto f) {
    for (std::int64_t j = 0; j < 6; ++j) f(i, j) = {b(i - 1, j).density + b(i + 1, j).density, {b(i, j).neighbours[1]}};
  });
  {
    const auto seen = free.read();
    EXPECT_EQ(seen.elements().size(), std::size_t(rows * columns));
    EXPECT_EQ(seen(20, 5).density, 40);
    EXPECT_EQ(seen(20, 5).neighbours[0], 5);
    EXPECT_EQ(seen(0, 0).density, 0);
  }
  {
    const auto part = free.rows(3, 5).read();
    EXPECT_EQ(part(4, 1).density, 8);
    EXPECT_EQ(part.elements().size(), std::size_t(2 * columns));
  }
  auto copy = model.make_array<cell>("copy", {rows, columns});
  model.copy(free, copy);
  EXPECT_EQ(copy.read()(20, 5).density, 40);
  std::vector<cell> own(12, cell{1, {}});
  {
    auto adopted = model.adopt("own", std::span(own), {4, 3});
    model.region("more", iterate(0, 4), update(adopted), [](auto i, auto a) { a(i, 2).density += 1; });
  }
  model.fence();
  EXPECT_EQ(own[5].density, 2);
  EXPECT_EQ(own[4].density, 1);
}

TEST(blocks_in_regions_end, before_the_tasks_of_a_region_do) {
  runtime rt(testing::host_only(2));
  location_model model(rt);
  region_result<double> total(rt, "total");
  for (int round = 0; round < 50; ++round) {
    auto x = rt.make_array<double>("x", {1000}, {100});
    model.region("fill", iterate(0, 1000), write(x), [](auto i, auto x) { x[i] = double(i); });
    model.region("sum", iterate(0, 1000), read(x), sum(total), [](auto i, auto x, double& s) { s += x[i]; });
  }
  EXPECT_EQ(total.get(), 499500);
}

}  // namespace
}  // namespace tessera
