// The tiled factorization and the triangular solves against a dense reference.
#include "apps/cholesky/factorization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>
#include <vector>

#include "integration/runtime/machines.hpp"

namespace {

namespace apps = tessera::apps;
using tessera::array;
using tessera::runtime;

/// Column-major n x n.
struct dense {
  std::int64_t n;
  std::vector<double> values;
  explicit dense(std::int64_t order) : n(order), values(static_cast<std::size_t>(order * order), 0.0) {}
  double& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(j * n + i)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(j * n + i)]; }
};

/// Symmetric and strictly diagonally dominant.
dense random_matrix(std::int64_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> element(-1, 1);
  dense a(n);
  for (std::int64_t j = 0; j < n; ++j) {
    a(j, j) = static_cast<double>(n) + 1;
    for (std::int64_t i = j + 1; i < n; ++i) a(i, j) = a(j, i) = element(random);
  }
  return a;
}

/// The textbook's three loops.
dense reference_factor(const dense& a) {
  dense l(a.n);
  for (std::int64_t j = 0; j < a.n; ++j)
    for (std::int64_t i = j; i < a.n; ++i) {
      long double sum = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= static_cast<long double>(l(i, k)) * l(j, k);
      l(i, j) = static_cast<double>(i == j ? std::sqrt(sum) : sum / l(j, j));
    }
  return l;
}

struct tiles_of {
  tessera::tiled_matrix<double> a;
  array<std::int32_t> info;
  std::int64_t tile;

  tiles_of(runtime& rt, const dense& from, std::int64_t size)
      : a(rt.make_matrix<double>("A", {from.n, from.n}, {size, size})),
        info(rt.make_array<std::int32_t>("info", {a.counts()[0]}, {1})),
        tile(size) {
    for (std::int64_t tj = 0; tj < a.counts()[1]; ++tj)
      for (std::int64_t ti = tj; ti < a.counts()[0]; ++ti) {
        auto to = a(ti, tj).write();
        for (std::int64_t j = 0; j < to.extent(1); ++j)
          for (std::int64_t i = 0; i < to.extent(0); ++i) to(i, j) = from(ti * size + i, tj * size + j);
      }
  }
  /// Largest difference from a lower triangle.
  double distance(const dense& l) {
    double worst = 0;
    for (std::int64_t tj = 0; tj < a.counts()[1]; ++tj)
      for (std::int64_t ti = tj; ti < a.counts()[0]; ++ti) {
        const auto from = a(ti, tj).read();
        for (std::int64_t j = 0; j < from.extent(1); ++j)
          for (std::int64_t i = ti == tj ? j : 0; i < from.extent(0); ++i)
            worst = std::max(worst, std::abs(from(i, j) - l(ti * tile + i, tj * tile + j)));
      }
    return worst;
  }
};

struct size_case {
  std::int64_t n, tile;
  bool devices;
};
void PrintTo(const size_case& c, std::ostream* to) {
  *to << c.n << " in tiles of " << c.tile << (c.devices ? ", devices" : "");
}

class factorization : public testing::TestWithParam<size_case> {};

TEST_P(factorization, agrees_with_the_dense_reference_and_solves) {
  const auto [n, tile, devices] = GetParam();
  runtime rt(devices ? tessera::testing::with_sims(2, "32 MiB", true) : tessera::testing::host_only());
  const dense a = random_matrix(n, static_cast<std::uint32_t>(1000 * n + tile));
  tiles_of tiles(rt, a, tile);
  auto x = rt.make_matrix<double>("x", {n, 1}, {tile, 1});
  for (std::size_t k = 0; k < x.size(); ++k) {
    auto block = x.block(k).write();
    for (std::int64_t i = 0; i < block.size(); ++i) {  // the right-hand side of the solution 1, 2, 3, ...
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += a(static_cast<std::int64_t>(k) * tile + i, j) * static_cast<double>(j + 1);
      block[i] = sum;
    }
  }
  const std::uint64_t before = rt.tasks_submitted();
  apps::factorize(rt, tiles.a, tiles.info);
  EXPECT_EQ(rt.tasks_submitted() - before, apps::factorization_tasks(tiles.a.counts()[0]));
  apps::solve(rt, tiles.a, x);
  rt.fence();
  EXPECT_NO_THROW(apps::check_pivots(tiles.info, tile));
  EXPECT_LT(tiles.distance(reference_factor(a)), 1e-12 * static_cast<double>(n));
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto block = x.block(k).read();
    for (std::int64_t i = 0; i < block.size(); ++i)
      worst = std::max(worst, std::abs(block[i] - static_cast<double>(static_cast<std::int64_t>(k) * tile + i + 1)));
  }
  EXPECT_LT(worst, 1e-11 * static_cast<double>(n));
}

INSTANTIATE_TEST_SUITE_P(sizes, factorization,
                         testing::Values(size_case{1, 1, false}, size_case{2, 1, false}, size_case{5, 8, false},
                                         size_case{8, 8, false}, size_case{9, 4, false}, size_case{37, 5, false},
                                         size_case{64, 16, false}, size_case{100, 33, false}, size_case{1, 1, true},
                                         size_case{37, 5, true}, size_case{100, 33, true}));

TEST(pivots, the_first_that_fails_is_named_wherever_its_tile_is) {
  for (const std::int64_t bad : {0, 3, 9, 19}) {
    runtime rt(tessera::testing::host_only());
    dense a = random_matrix(20, 7);
    a(bad, bad) = -1;
    tiles_of tiles(rt, a, 6);
    apps::factorize(rt, tiles.a, tiles.info);
    rt.fence();
    try {
      apps::check_pivots(tiles.info, 6);
      ADD_FAILURE() << "no pivot was found to fail";
    } catch (const tessera::error& e) {
      EXPECT_EQ(e.kind(), tessera::error_kind::numerical);
      EXPECT_THAT(e.what(), testing::HasSubstr("pivot " + std::to_string(bad + 1) + " "));
    }
  }
}

}  // namespace
