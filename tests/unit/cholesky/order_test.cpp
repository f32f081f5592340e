// Planned orders of the factorization: what they cover, what they move, and that the factor stays right.
#include "apps/cholesky/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "apps/cholesky/factorization.hpp"
#include "integration/runtime/machines.hpp"
#include "support/small_device.hpp"

namespace tessera::apps {
namespace {

TEST(factorization_order, is_the_plain_one_where_everything_fits) {
  EXPECT_TRUE(plan_factorization(10, 55).empty());
  EXPECT_FALSE(plan_factorization(10, 54).empty());
}

TEST(factorization_order, is_the_plain_one_where_no_plan_fits) { EXPECT_TRUE(plan_factorization(10, 1).empty()); }

TEST(factorization_order, takes_every_column_once) {
  for (const std::int64_t tiles : {2, 3, 16, 24, 100})
    for (const std::int64_t room : {8, 20, 37, 75, 150, 290}) {
      if (room >= tiles * (tiles + 1) / 2) continue;
      const auto plan = plan_factorization(tiles, room);
      ASSERT_FALSE(plan.empty()) << tiles << " " << room;
      std::int64_t next = 0;
      for (const factor_panel& p : plan) {
        EXPECT_EQ(p.column, next);
        EXPECT_GE(p.width, 1);
        EXPECT_GE(p.at_once, 1);
        EXPECT_LE(p.width * (p.width + 1) / 2, room);
        EXPECT_LE(p.width * p.at_once, room);
        next += p.width;
      }
      EXPECT_EQ(next, tiles);
    }
}

TEST(factorization_order, goes_by_columns_while_they_stay_and_by_panels_beyond) {
  EXPECT_EQ(plan_factorization(24, 200).size(), 24u);  // 150 %
  EXPECT_LT(plan_factorization(24, 75).size(), 6u);    // 400 %
}

TEST(factorization_by_panels, agrees_with_a_known_factor) {
  constexpr std::int64_t tiles = 9, tile = 4, n = tiles * tile;
  for (const std::uint64_t room : {6u, 12u, 20u, 40u}) {
    runtime rt(testing::host_only());
    auto a = rt.make_array<double>("A", {n, n}, {tile, tile});
    auto info = rt.make_array<std::int32_t>("info", {tiles}, {1});
    // A(i, j) = min(i, j) + 1: its factor has ones alone.
    for (std::int64_t tj = 0; tj < tiles; ++tj)
      for (std::int64_t ti = tj; ti < tiles; ++ti) {
        auto t = a.write_host(a(ti, tj));
        for (std::int64_t j = 0; j < tile; ++j)
          for (std::int64_t i = 0; i < tile; ++i)
            t(i, j) = static_cast<double>(std::min(ti * tile + i, tj * tile + j) + 1);
      }
    const std::uint64_t before = rt.tasks_submitted();
    factorize(rt, a, info, {.bytes = room * tile * tile * sizeof(double)});
    EXPECT_EQ(rt.tasks_submitted() - before, factorization_tasks(tiles));
    rt.fence();
    check_pivots(info, tile);
    for (std::int64_t tj = 0; tj < tiles; ++tj)
      for (std::int64_t ti = tj; ti < tiles; ++ti) {
        const auto t = a.read_host(a(ti, tj));
        for (std::int64_t j = 0; j < tile; ++j)
          for (std::int64_t i = ti == tj ? j : 0; i < tile; ++i)
            ASSERT_DOUBLE_EQ(t(i, j), 1.0) << ti << " " << tj << " " << room;
      }
  }
}

struct setting {
  int percent;
  double most;  ///< bytes moved, in units of the triangle in and out
};
void PrintTo(const setting& s, std::ostream* to) { *to << s.percent << " %"; }

class factorization_in_a_small_memory : public ::testing::TestWithParam<setting> {};

TEST_P(factorization_in_a_small_memory, moves_little_more_than_it_must) {
  constexpr std::int64_t tiles = 24, tile = 32, data = tiles * (tiles + 1) / 2;
  constexpr std::uint64_t tile_bytes = tile * tile * sizeof(double);
  auto made = testing::small_device(data * 100 / GetParam().percent, tile_bytes);
  runtime rt(std::move(made.machine));
  auto a = rt.make_array<double>("A", {tiles * tile, tiles * tile}, {tile, tile});
  auto info = rt.make_array<std::int32_t>("info", {tiles}, {1});
  for (std::int64_t j = 0; j < tiles; ++j)
    for (std::int64_t i = j; i < tiles; ++i) fill(rt, a(i, j), 1.0, {.at = rt.at("core0")});
  rt.fence();
  factorize(rt, a, info, testing::memory_budget_of_device(rt));
  for (std::int64_t j = 0; j < tiles; ++j)
    for (std::int64_t i = j; i < tiles; ++i) testing::look_at(rt, a(i, j));
  rt.fence();
  const double moved = static_cast<double>(rt.statistics().bytes_transferred()),
               must = static_cast<double>(2 * data * tile_bytes);
  EXPECT_GE(moved, must);
  EXPECT_LE(moved, GetParam().most * must);
}

INSTANTIATE_TEST_SUITE_P(percent_of_the_memory, factorization_in_a_small_memory,
                         ::testing::Values(setting{110, 1.01}, setting{150, 1.02}, setting{200, 1.1},
                                           setting{400, 1.48}));  // 1.40 with checked_copies = false

}  // namespace
}  // namespace tessera::apps
