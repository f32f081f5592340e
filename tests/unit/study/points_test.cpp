#include "apps/study/points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/support/error_of.hpp"

namespace tessera::apps::study {
namespace {

using test_support::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> labels(const std::vector<point>& points) {
  std::vector<std::string> all;
  for (const point& p : points) all.push_back(p.label);
  return all;
}

TEST(study_points, a_leaf_gets_more_and_more_and_the_others_share_the_rest) {
  EXPECT_THAT(labels(shares_of_leaf(0, 2, {0, 100, 50})), ElementsAre("0,100", "50,50", "100,0"));
  EXPECT_THAT(labels(shares_of_leaf(0, 3, {20, 50, 20})), ElementsAre("20,40,40", "40,30,30"));
  EXPECT_THAT(labels(shares_of_leaf(2, 3, {20, 50, 20})), ElementsAre("40,40,20", "30,30,40"));
  const std::vector<point> points = shares_of_leaf(0, 2, {12.5, 12.5, 1});
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].x, 12.5);
  EXPECT_THAT(points[0].arguments, ElementsAre("--policy", "percentage:12.5,87.5"));
}

TEST(study_points, shares_add_up_to_what_the_policy_takes) {
  for (std::size_t leaves = 2; leaves < 40; ++leaves)
    for (const point& p : shares_of_leaf(0, leaves, {0, 100, 7})) {
      std::istringstream text(p.label);
      double sum = 0, share = 0;
      for (char comma = 0; text >> share; text >> comma) sum += share;
      EXPECT_LE(std::abs(sum - 100), 0.01) << p.label;
    }
}

TEST(study_points, a_step_that_does_not_divide_the_range_ends_below_it) {
  EXPECT_EQ(shares_of_leaf(0, 2, {0, 100, 30}).back().x, 90);
  EXPECT_EQ(shares_of_leaf(0, 2, {0, 1, 0.1}).size(), 11u) << "rounding loses no point";
}

TEST(study_points, refuse_what_is_no_sweep) {
  EXPECT_THAT(error_of([] { shares_of_leaf(0, 1, {0, 100, 10}); }).what(), HasSubstr("nothing to share"));
  for (const auto& [from, to, step] : {std::tuple{-1.0, 50.0, 1.0},
                                       {60.0, 50.0, 1.0},
                                       {0.0, 101.0, 1.0},
                                       {0.0, 100.0, 0.0},
                                       {0.0, 100.0, -5.0},
                                       {std::nan(""), 100.0, 1.0}})
    EXPECT_THAT(error_of([&] { shares_of_leaf(0, 2, {from, to, step}); }).what(), HasSubstr("no sweep"));
}

TEST(study_points, refuse_a_sweep_of_very_many) {
  EXPECT_EQ(shares_of_leaf(0, 2, {0, 100, 0.1}).size(), 1001u);
  for (const double step : {0.05, 1e-9, 1e-300})
    EXPECT_THAT(error_of([&] { shares_of_leaf(0, 2, {0, 100, step}); }).what(), HasSubstr("more than 1001 points"));
}

TEST(study_points, policies_keep_their_lists) {
  EXPECT_THAT(policies_of({"percentage:30", "70", "static", "range:1", "2", "3"}),
              ElementsAre("percentage:30,70", "static", "range:1,2,3"));
  EXPECT_THAT(policies_of({"5"}), ElementsAre("5"));
}

TEST(study_points, workers_double_up_to_all) {
  EXPECT_THAT(labels(numbers_of_workers(1)), ElementsAre("1 worker"));
  EXPECT_THAT(labels(numbers_of_workers(6)), ElementsAre("1 worker", "2 workers", "4 workers", "6 workers"));
  EXPECT_THAT(labels(numbers_of_workers(4)), ElementsAre("1 worker", "2 workers", "4 workers"));
}

TEST(study_points, leaves_come_one_by_one) {
  const std::vector<point> points = numbers_of_leaves(3);
  EXPECT_THAT(labels(points), ElementsAre("1 leaf", "2 leaves", "3 leaves"));
  EXPECT_THAT(points[0].arguments, ElementsAre("--policy", "percentage:100"));
  EXPECT_THAT(points[2].arguments, ElementsAre("--policy", "percentage:33.333333,33.333333,33.333333"));
}

}  // namespace
}  // namespace tessera::apps::study
