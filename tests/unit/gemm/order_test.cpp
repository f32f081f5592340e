// Planned orders of the product: what they cover, what they move, and that the product stays right.
#include "apps/gemm/order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <ostream>
#include <utility>

#include "apps/gemm/multiplication.hpp"
#include "integration/runtime/machines.hpp"
#include "support/small_device.hpp"

namespace tessera::apps {
namespace {

TEST(product_order, is_the_plain_one_where_everything_fits) {
  EXPECT_TRUE(plan_product(4, 5, 6, 4 * 5 + 5 * 6 + 4 * 6).empty());
  EXPECT_FALSE(plan_product(4, 5, 6, 4 * 5 + 5 * 6 + 4 * 6 - 1).empty());
}

TEST(product_order, is_the_plain_one_where_no_plan_fits) { EXPECT_TRUE(plan_product(4, 5, 6, 5).empty()); }

TEST(product_order, covers_every_tile_once_and_shares_a_side_with_the_region_before) {
  for (const auto& [rows, columns, inner, room] : {std::array<std::int64_t, 4>{16, 16, 16, 180},
                                                   {16, 16, 16, 40},
                                                   {7, 31, 3, 60},
                                                   {31, 7, 50, 60},
                                                   {1, 40, 40, 30},
                                                   {5, 5, 5, 7}}) {
    const auto plan = plan_product(rows, columns, inner, room);
    ASSERT_FALSE(plan.empty());
    std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
    const product_region* before = nullptr;
    for (const product_region& r : plan) {
      for (std::int64_t i = r.row; i < r.row + r.rows; ++i)
        for (std::int64_t j = r.column; j < r.column + r.columns; ++j) ++seen[{i, j}];
      EXPECT_LE(r.rows * r.columns, room);
      if (before != nullptr) {
        EXPECT_NE(before->row == r.row, before->column == r.column);
        EXPECT_NE(before->backwards, r.backwards);
      }
      before = &r;
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(rows * columns));
    for (const auto& [tile, times] : seen) EXPECT_EQ(times, 1);
  }
}

array<double> matrix(runtime& rt, std::int64_t tiles, std::int64_t tile) {
  return rt.make_array<double>("M", {tiles * tile, tiles * tile}, {tile, tile});
}

TEST(product, is_right_in_a_planned_order) {
  constexpr std::int64_t tiles = 7, tile = 4, n = tiles * tile;
  for (const std::uint64_t room : {20u, 60u, 100u}) {
    runtime rt(testing::host_only());
    auto a = matrix(rt, tiles, tile), b = matrix(rt, tiles, tile), c = matrix(rt, tiles, tile);
    const auto set = [&](array<double>& to, double rows, double columns) {
      for (std::int64_t tj = 0; tj < tiles; ++tj)
        for (std::int64_t ti = 0; ti < tiles; ++ti) {
          auto t = to.write_host(to(ti, tj));
          for (std::int64_t j = 0; j < tile; ++j)
            for (std::int64_t i = 0; i < tile; ++i)
              t(i, j) = rows * static_cast<double>(ti * tile + i) + columns * static_cast<double>(tj * tile + j);
        }
    };
    set(a, 1, 2);
    set(b, 3, -1);
    multiply(rt, a, b, c, {.bytes = room * tile * tile * sizeof(double)});
    rt.fence();
    constexpr double m = n, sum = m * (m - 1) / 2, squares = (m - 1) * m * (2 * m - 1) / 6;
    for (std::int64_t tj = 0; tj < tiles; ++tj)
      for (std::int64_t ti = 0; ti < tiles; ++ti) {
        const auto t = c.read_host(c(ti, tj));
        for (std::int64_t j = 0; j < tile; ++j)
          for (std::int64_t i = 0; i < tile; ++i) {  // the sum over l of (x + 2 l)(3 l - y)
            const auto x = static_cast<double>(ti * tile + i), y = static_cast<double>(tj * tile + j);
            ASSERT_DOUBLE_EQ(t(i, j), 3 * x * sum - m * x * y + 6 * squares - 2 * y * sum) << ti << " " << tj;
          }
      }
  }
}

struct setting {
  int percent;
  double most;  ///< bytes moved, in units of all three matrices
};
void PrintTo(const setting& s, std::ostream* to) { *to << s.percent << " %"; }

class product_in_a_small_memory : public ::testing::TestWithParam<setting> {};

TEST_P(product_in_a_small_memory, moves_little_more_than_it_must) {
  constexpr std::int64_t tiles = 16, tile = 32, data = 3 * tiles * tiles;
  constexpr std::uint64_t tile_bytes = tile * tile * sizeof(double);
  auto made = testing::small_device(data * 100 / GetParam().percent, tile_bytes);
  runtime rt(std::move(made.machine));
  auto a = matrix(rt, tiles, tile), b = matrix(rt, tiles, tile), c = matrix(rt, tiles, tile);
  for (array<double>* m : {&a, &b})
    for (std::size_t k = 0; k < m->size(); ++k) fill(rt, m->block(k), 1.0, {.at = rt.at("core0")});
  rt.fence();
  multiply(rt, a, b, c, testing::memory_budget_of_device(rt));
  for (std::size_t k = 0; k < c.size(); ++k) testing::look_at(rt, c.block(k));
  rt.fence();
  const double moved = static_cast<double>(rt.statistics().bytes_transferred()),
               must = static_cast<double>(data * tile_bytes);
  EXPECT_GE(moved, must);
  EXPECT_LE(moved, GetParam().most * must);
}

INSTANTIATE_TEST_SUITE_P(percent_of_the_memory, product_in_a_small_memory,
                         ::testing::Values(setting{110, 1.0}, setting{150, 1.0}, setting{200, 1.02},
                                           setting{400, 1.2}));

}  // namespace
}  // namespace tessera::apps
