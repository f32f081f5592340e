// Stop criteria: when they hold, what they are together, and what they refuse.
#include "tessera/sparse/stop_criterion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "tests/support/error_of.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

constexpr std::array first_norms{4.0, 10.0}, right_norms{2.0, 100.0};

solve_progress progress_at(int iteration, const std::array<double, 2>& residuals) {
  return {.iteration = iteration,
          .seconds = 0.5 * iteration,
          .residuals = residuals,
          .first_residuals = first_norms,
          .right_sides = right_norms};
}
bool criterion_holds(const stop_criterion& s, int iteration, double a, double b) {
  const std::array residuals{a, b};
  const stop_decision said = s.decide(progress_at(iteration, residuals));
  EXPECT_EQ(said.stops, !said.by.empty());
  return said.stops;
}

TEST(stop_criteria, hold_where_all_columns_do) {
  EXPECT_TRUE(criterion_holds(stop::residual(0.1), 0, 0.1, 0.05));
  EXPECT_FALSE(criterion_holds(stop::residual(0.1), 0, 0.1, 0.2));
  EXPECT_TRUE(criterion_holds(stop::relative_residual(0.1), 0, 0.2, 10));
  EXPECT_FALSE(criterion_holds(stop::relative_residual(0.1), 0, 0.21, 1));
  EXPECT_TRUE(criterion_holds(stop::residual_reduction(0.1), 0, 0.4, 1));
  EXPECT_FALSE(criterion_holds(stop::residual_reduction(0.1), 0, 0.4, 1.1));
  EXPECT_TRUE(criterion_holds(stop::iterations(3), 3, 9, 9));
  EXPECT_FALSE(criterion_holds(stop::iterations(3), 2, 0, 0));
  EXPECT_TRUE(criterion_holds(stop::seconds(1), 2, 9, 9));
  EXPECT_FALSE(criterion_holds(stop::seconds(1), 1, 9, 9));
  EXPECT_TRUE(criterion_holds(stop::iterations(0), 0, 9, 9));
}

TEST(stop_criteria, never_hold_for_what_is_not_finite) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const stop_criterion& s : {stop::residual(inf), stop::relative_residual(inf), stop::residual_reduction(inf)}) {
    EXPECT_FALSE(criterion_holds(s, 0, nan, 0)) << s.text();
    EXPECT_FALSE(criterion_holds(s, 0, inf, 0)) << s.text();
    EXPECT_TRUE(criterion_holds(s, 0, 1e300, 0)) << s.text();
  }
}

TEST(stop_criteria, that_need_numbers_do_not_hold_without_them) {
  const std::array residuals{0.0, 0.0};
  solve_progress bare{.iteration = 1, .residuals = residuals};
  EXPECT_FALSE(stop::relative_residual(1).decide(bare).stops);
  EXPECT_FALSE(stop::residual_reduction(1).decide(bare).stops);
  EXPECT_FALSE(stop::relative_change(1).decide(bare).stops);
  const std::array changes{1e-9, 1e-11};
  bare.changes = changes;
  EXPECT_TRUE(stop::relative_change(1e-9).decide(bare).stops);
  EXPECT_FALSE(stop::relative_change(1e-10).decide(bare).stops);
}

TEST(stop_criteria, are_put_together) {
  const stop_criterion s = (stop::residual(0.1) | stop::seconds(10)) & stop::iterations(5);
  EXPECT_EQ(s.text(), "(residual <= 0.1 or seconds >= 10) and iterations >= 5");
  EXPECT_FALSE(criterion_holds(s, 4, 0, 0));
  EXPECT_FALSE(criterion_holds(s, 6, 1, 1));
  EXPECT_TRUE(criterion_holds(s, 6, 0, 0));
  EXPECT_TRUE(criterion_holds(s, 20, 1, 1));
  const std::array small{0.0, 0.0}, large{1.0, 1.0};
  EXPECT_TRUE(s.decide(progress_at(6, small)).converged);
  EXPECT_EQ(s.decide(progress_at(6, small)).by, "residual <= 0.1 and iterations >= 5");
  EXPECT_FALSE(s.decide(progress_at(20, large)).converged) << "limits alone";
  EXPECT_EQ(s.decide(progress_at(20, large)).by, "seconds >= 10 and iterations >= 5");
}

TEST(stop_criteria, tell_what_solves_from_what_limits) {
  const stop_criterion s = stop::iterations(5) | stop::residual(0.1);
  const std::array small{0.0, 0.0}, large{1.0, 1.0};
  EXPECT_EQ(s.decide(progress_at(5, small)).by, "residual <= 0.1") << "that is what counts where both hold";
  EXPECT_TRUE(s.decide(progress_at(5, small)).converged);
  EXPECT_FALSE(s.decide(progress_at(5, large)).converged);
  EXPECT_EQ((stop::iterations(5) | stop::seconds(1)).decide(progress_at(5, large)).by, "iterations >= 5, seconds >= 1");
  const auto yes = [](const solve_progress&) { return true; };
  EXPECT_TRUE(stop::when("mine", yes).decide(progress_at(0, large)).converged);
  EXPECT_FALSE(stop::when("mine", yes, false).decide(progress_at(0, large)).converged);
}

TEST(stop_criteria, know_whether_they_end) {
  EXPECT_TRUE(stop::iterations(5).ends());
  EXPECT_FALSE(stop::residual(5).ends());
  EXPECT_FALSE(stop::seconds(std::numeric_limits<double>::infinity()).ends());
  EXPECT_TRUE((stop::residual(5) | stop::seconds(1)).ends());
  EXPECT_FALSE((stop::residual(5) & stop::seconds(1)).ends());
  EXPECT_TRUE((stop::iterations(5) & stop::seconds(1)).ends());
  EXPECT_TRUE((stop::iterations(5) | stop::relative_change(1e-8)).asks_for_changes());
  EXPECT_FALSE((stop::iterations(5) | stop::residual(1e-8)).asks_for_changes());
}

TEST(stop_criteria, refuse_limits_that_are_none) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of([] { (void)stop::residual(-1); }, error_kind::usage).find("a residual of -1"),
            std::string::npos);
  EXPECT_NE(message_of([] { (void)stop::iterations(-2); }, error_kind::usage).find("of -2"), std::string::npos);
  for (const auto make :
       {stop::residual, stop::relative_residual, stop::residual_reduction, stop::relative_change, stop::seconds})
    EXPECT_NE(message_of([&] { (void)make(nan); }, error_kind::usage).find("nan"), std::string::npos);
  EXPECT_NE(message_of([] { (void)stop::when("mine", nullptr); }, error_kind::usage).find("no function"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
