// Rank and index order of arrays: the same element by the same indices, wherever they stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "machines.hpp"
#include "tessera/detail/block_group.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Every element of a 3 x 5 array in blocks of 2 x 2 becomes 10 i + j by tasks.
template <class Array>
void number(runtime& rt, Array& a) {
  for (std::int64_t bi = 0; bi < a.counts()[0]; ++bi)
    for (std::int64_t bj = 0; bj < a.counts()[1]; ++bj)
      rt.submit(
          "number",
          [bi, bj](auto v) {
            for (std::int64_t i = 0; i < v.extent(0); ++i)
              for (std::int64_t j = 0; j < v.extent(1); ++j)
                v(i, j) = static_cast<double>(10 * (2 * bi + i) + 2 * bj + j);
          },
          write(a(bi, bj)));
}

TEST(index_orders, indices_mean_the_same_in_arrays_blocks_tasks_and_views) {
  for (const bool devices : {false, true}) {
    runtime rt(devices ? testing::with_sims(1, "1 MiB") : testing::host_only(2));
    auto rows = rt.make_array<double>("rows", {3, 5}, {2, 2});
    auto columns = rt.make_matrix<double>("columns", {3, 5}, {2, 2});
    number(rt, rows);
    number(rt, columns);
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 5; ++j) {
        EXPECT_EQ(rows(i / 2, j / 2).read()(i % 2, j % 2), 10.0 * double(i) + double(j));
        EXPECT_EQ(columns(i / 2, j / 2).read()(i % 2, j % 2), 10.0 * double(i) + double(j));
      }
    const auto by_rows = rows(0, 1).read();
    EXPECT_THAT(std::span(by_rows.begin(), by_rows.end()), ElementsAre(2, 3, 12, 13));
    const auto by_columns = columns(0, 1).read();
    EXPECT_THAT(std::span(by_columns.begin(), by_columns.end()), ElementsAre(2, 12, 3, 13));
  }
}

TEST(index_orders, extents_counts_ordinals_and_names_follow) {
  runtime rt(testing::host_only(1));
  auto rows = rt.make_array<double>("rows", {3, 5}, {2, 2});
  auto columns = rt.make_matrix<double>("columns", {3, 5}, {2, 2});
  for (const shape& counts : {rows.counts(), columns.counts()}) EXPECT_EQ(counts, (shape{2, 3}));
  EXPECT_EQ(rows(1, 2).extents(), (shape{1, 1}));
  EXPECT_EQ(rows(1, 0).extents(), (shape{1, 2})) << "one row is left";
  EXPECT_EQ(columns(1, 0).extents(), (shape{1, 2}));
  EXPECT_EQ(&rows.block(1).record(), &rows(0, 1).record()) << "the last index is fastest";
  EXPECT_EQ(&columns.block(1).record(), &columns(1, 0).record()) << "the first index is fastest";
  rt.submit(
      "look", [](view<const double, 2>) {}, read(rows(1, 2)));  // was never written
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("rows(1,2)"));
  EXPECT_THAT(error_of([&] { (void)rows(2, 0); }).message(), HasSubstr("no block with index 2 in dimension 0"));
}

TEST(index_orders, of_ranks_that_the_compiler_does_not_know) {
  runtime rt(testing::host_only(1));
  const std::array<std::int64_t, 3> extents{2, 3, 4};
  auto a = rt.make_array<double>("a", std::span(extents), std::span(extents));
  rt.submit(
      "positions",
      [](view<double, any_rank> v) {
        for (std::int64_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>(k);
      },
      write(a(0, 0, 0)));
  rt.submit(
      "by indices",
      [](task_blocks b) {
        const auto v = b.get<double, 3>(0);
        EXPECT_EQ(v.extent(0), 2);
        EXPECT_EQ(v.extent(2), 4);
        EXPECT_EQ(v(1, 2, 3), 23);
        EXPECT_EQ(v(1, 0, 0), 12) << "the last index is fastest";
        EXPECT_EQ((b.get<double, 3, column_major>(0)(1, 0, 0)), 1) << "what was asked for";
      },
      std::vector<block_access>{update(a.block(0))});
  rt.submit(
      "wrong rank", [](task_blocks b) { (void)b.get<double, 2>(0); }, std::vector<block_access>{update(a.block(0))});
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(),
              AllOf(HasSubstr("block 0 of the task has rank 3"), HasSubstr("a view of rank 2")));
}

TEST(index_orders, blocks_of_groups_have_them_too) {
  runtime rt(testing::host_only(1));
  block_group<double, 2> rows(rt, "rows", {2, 3});
  const auto b = rows.make(shape{2, 3}, 4);
  {
    auto v = b.write();
    for (std::int64_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>(k);
    EXPECT_EQ(v(1, 0), 3);
    EXPECT_EQ(v.extent(1), 3);
  }
  EXPECT_EQ(b.extents(), (shape{2, 3}));
  const auto never = rows.make(shape{1, 1}, 4);
  rt.submit(
      "look", [](view<const double, 2>) {}, read(never));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("rows(1,1)"));
  EXPECT_THAT(error_of([&] { (void)rows.make(shape{3}, 0); }).message(), HasSubstr("rank 1"));
  EXPECT_THAT(error_of([&] { block_group<double> nine(rt, "nine", std::vector<std::int64_t>(9, 1)); }).message(),
              HasSubstr("9 dimensions"));
  rows.destroy(b);
  rows.destroy(never);
}

TEST(index_orders, matrices_of_linear_algebra_are_column_major_whatever_their_rank_is_known_as) {
  runtime rt(testing::host_only(1));
  const std::array<std::int64_t, 2> extents{2, 2};
  auto a = rt.make_array<double, column_major>("a", std::span(extents), std::span(extents));
  {
    auto v = a.block(0).write();
    v[0] = 1, v[1] = 2, v[2] = 3, v[3] = 4;  // 1 3 | 2 4
  }
  auto c = rt.make_array<double, column_major>("c", std::span(extents), std::span(extents));
  gemm(rt, 1, a.block(0), transpose::no, a.block(0), transpose::no, 0, c.block(0));
  const auto v = c.block(0).read();
  EXPECT_THAT(std::span(v.begin(), v.end()), ElementsAre(7, 10, 15, 22));
}

/// What no operation knows: 40 bytes, and two that nobody writes.
struct particle {
  double place[3];
  std::int64_t number;
  std::int16_t kind;
  bool is_fixed;
};

TEST(elements_of_the_program, are_used_by_tasks_and_views_wherever_they_are) {
  for (const bool devices : {false, true}) {
    runtime rt(devices ? testing::with_sims(1, "1 MiB") : testing::host_only(2));
    auto all = rt.make_array<particle>("particles", {7, 5}, {3, 2});
    EXPECT_EQ(all(2, 2).extents(), (shape{1, 1}));
    EXPECT_EQ(all(0, 0).bytes(), 6 * sizeof(particle));
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 3; ++j)
        rt.submit(
            "place",
            [i, j](view<particle, 2> block) {
              for (std::int64_t k = 0; k < block.extent(0); ++k)
                for (std::int64_t l = 0; l < block.extent(1); ++l)
                  block(k, l) = {{1, 2, double(2 * j + l)}, 3 * i + k, std::int16_t(-1), true};
            },
            write(all(i, j)));
    auto corner = all(2, 1).update();
    EXPECT_EQ(corner.size(), 2);
    EXPECT_EQ(corner.extent(0), 1);
    EXPECT_EQ(corner.extent(1), 2);
    EXPECT_EQ(corner(0, 1).place[2], 3);
    EXPECT_EQ(corner[1].number, 6);
    EXPECT_EQ(corner.end() - corner.begin(), 2);
    EXPECT_TRUE(corner(0, 0).is_fixed);
  }
}

TEST(elements_of_the_program, are_of_any_trivially_copyable_type) {
  runtime rt(testing::host_only(1));
  auto shorts = rt.make_array<std::int16_t>("shorts", {5}, {5});
  auto flags = rt.make_array<bool>("flags", {3}, {3});
  auto one = rt.make_array<particle>("one", {}, {});
  {
    auto s = shorts(0).write();
    ASSERT_EQ(s.size(), 5);
    for (std::int64_t k = 0; k < 5; ++k) s(k) = static_cast<std::int16_t>(-k);
    auto f = flags(0).write();
    f[0] = f[1] = f[2] = true;
    one().write()[0].number = 42;
  }
  EXPECT_EQ(shorts(0).read()[4], -4);
  EXPECT_EQ(one().read().size(), 1);
  EXPECT_EQ(one().read()[0].number, 42);
  std::vector<particle> own(10);
  for (std::size_t k = 0; k < own.size(); ++k) own[k].number = static_cast<std::int64_t>(k);
  auto adopted = rt.adopt("own", std::span(own), 4);
  EXPECT_EQ(adopted.size(), 3u);
  rt.submit(
      "more",
      [](task_blocks b) {
        for (particle& p : b.get<particle>(0)) p.number *= 10;
      },
      std::vector<block_access>{update(adopted(2))});
  rt.submit(
      "not whole", [](task_blocks b) { (void)b.get<std::array<char, 47>>(0); },
      std::vector<block_access>{update(adopted(2))});
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("no whole number of the elements asked for"));
  EXPECT_EQ(own[7].number, 7);
}

}  // namespace
}  // namespace tessera
