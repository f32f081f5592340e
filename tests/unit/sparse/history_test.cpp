// Iterations that a solver has told: how long it may still take, and what is kept of them.
#include "apps/sparse/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::apps {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

/// Iteration k of pairs whose residuals fall by these powers of ten in each, towards 1e-8; half a second each.
solver_moment falling(int k, std::initializer_list<double> rates) {
  solver_moment made{0.5 * k, {k, 0, static_cast<std::int64_t>(rates.size()), 0}};
  for (const double rate : rates) {
    made.now.of_pairs.push_back({1, std::pow(10.0, -rate * k), 1e-8});
    made.now.largest_residual = std::max(made.now.largest_residual, made.now.of_pairs.back().residual);
  }
  return made;
}

std::vector<solver_moment> run_of(int iterations, std::initializer_list<double> rates) {
  std::vector<solver_moment> made;
  for (int k = 1; k <= iterations; ++k) made.push_back(falling(k, rates));
  return made;
}

TEST(seconds_left, are_those_of_the_slowest_pair) {
  // At iteration 10 the second pair is at 1e-2: six more powers of ten, a fifth of one an iteration.
  EXPECT_THAT(seconds_left(run_of(10, {0.5, 0.2})), Optional(DoubleNear(0.5 * 6 / 0.2, 1e-9)));
}

TEST(iterations_left, are_those_of_the_slowest_pair) {
  EXPECT_THAT(iterations_left(run_of(10, {0.5, 0.2})), Optional(DoubleNear(6 / 0.2, 1e-9)));
  EXPECT_EQ(iterations_left(run_of(10, {0.0})), std::nullopt);
  solver_history h;
  EXPECT_EQ(h.left(), std::nullopt);
  for (const solver_moment& m : run_of(10, {0.2})) h.note_at(m.seconds, m.now);
  EXPECT_THAT(h.left(), Optional(DoubleNear(6 / 0.2, 1e-9)));
}

TEST(iterations_left, are_endless_where_residuals_only_scatter) {
  std::vector<solver_moment> level = run_of(40, {0.0});
  for (std::size_t k = 0; k < level.size(); ++k)  // within a factor of ten, and a little lower at the end
    level[k].now.of_pairs[0].residual = std::pow(10, (k % 2 == 0 ? 0.5 : -0.5) - 0.001 * static_cast<double>(k));
  EXPECT_EQ(iterations_left(level), std::nullopt);
  solver_history h;
  for (const solver_moment& m : level) h.note_at(m.seconds, m.now);
  EXPECT_THAT(h.left(), Optional(std::numeric_limits<double>::infinity()));
}

TEST(seconds_left, are_none_when_all_pairs_are_done) { EXPECT_THAT(seconds_left(run_of(20, {0.5})), Optional(0.0)); }

TEST(seconds_left, are_not_known_of_few_iterations_and_of_a_pair_that_does_not_fall) {
  EXPECT_EQ(seconds_left(run_of(4, {0.5})), std::nullopt);
  EXPECT_EQ(seconds_left(run_of(10, {0.5, 0.0})), std::nullopt);
  EXPECT_EQ(seconds_left(run_of(10, {-0.1})), std::nullopt);
  std::vector<solver_moment> endless = run_of(10, {0.5});
  for (solver_moment& m : endless) m.now.of_pairs[0].residual = INFINITY;
  EXPECT_EQ(seconds_left(endless), std::nullopt);
  for (solver_moment& m : endless) m.now.of_pairs[0] = {0, 1, 0};  // a tolerance of 0
  EXPECT_EQ(seconds_left(endless), std::nullopt);
}

TEST(solver_history, keeps_the_values_of_the_first_of_many_iterations) {
  solver_history h;
  for (int k = 1; k <= 2500; ++k) h.note_at(k, {k, 0, 1, 1, {{2, 1, 0.1}}});
  const std::vector<solver_moment> all = h.moments();
  EXPECT_EQ(all.front().now.iteration, 1);
  for (const solver_moment& m : all) EXPECT_EQ(m.now.of_pairs.size(), 1u) << m.now.iteration;
}

TEST(solver_history, forgets_what_came_before_a_begin) {
  solver_history h;
  for (int k = 1; k <= 2500; ++k) h.note_at(0.5 * k, falling(k, {0.2}).now);
  h.begin();
  EXPECT_EQ(h.line(1), "");
  EXPECT_TRUE(h.moments().empty());
  for (int k = 1; k <= 3; ++k) h.note_at(0.5 * k, falling(k, {0.2}).now);
  ASSERT_EQ(h.moments().size(), 3U);
  EXPECT_EQ(h.moments().front().now.iteration, 1);
}

TEST(solver_history, has_a_line_that_ends_with_the_time_left) {
  solver_history h;
  EXPECT_EQ(h.line(1), "");
  h.note_at(0.5, falling(1, {0.2}).now);
  EXPECT_THAT(h.line(1), HasSubstr("eigs: iteration 1, 0 of 1 pairs converged, largest residual 6.3e-01, 1 s"));
  EXPECT_THAT(h.line(1), Not(HasSubstr("left")));
  for (int k = 2; k <= 10; ++k) h.note_at(0.5 * k, falling(k, {0.2}).now);
  EXPECT_THAT(h.line(5), HasSubstr("largest residual 1.0e-02, 5 s, about 15 s left"));
}

TEST(solver_history, keeps_fewer_iterations_of_a_long_run_and_always_the_last) {
  solver_history h;
  for (int k = 1; k <= 10; ++k) h.note_at(k, falling(k, {0.1}).now);
  EXPECT_EQ(h.moments().size(), 10u);
  for (int k = 11; k <= 9999; ++k) h.note_at(k, falling(k, {0.1}).now);
  const std::vector<solver_moment> kept = h.moments();
  EXPECT_GE(kept.size(), 1000u);
  EXPECT_LE(kept.size(), 2000u);
  EXPECT_EQ(kept.front().now.iteration, 1);
  EXPECT_EQ(kept.back().now.iteration, 9999);
  const int step = kept[1].now.iteration - kept[0].now.iteration;
  for (std::size_t k = 1; k + 1 < kept.size(); ++k)
    EXPECT_EQ(kept[k].now.iteration - kept[k - 1].now.iteration, step) << k;
}

}  // namespace
}  // namespace tessera::apps
