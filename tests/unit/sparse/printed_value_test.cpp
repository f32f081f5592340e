// The text of eigenvalues and their bounds.
#include "apps/sparse/printed_value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace tessera::apps {
namespace {

/// Whatever lies within the bound lies within the printed one of the printed value.
void expect_kept(double value, double bound) {
  const printed_value text(value, bound);
  const long double printed = std::strtold(text.value.c_str(), nullptr),
                    within = std::strtold(text.bound.c_str(), nullptr);
  const long double away = printed - static_cast<long double>(value);
  for (const int side : {-1, 0, 1})
    EXPECT_LE(std::abs(away - side * static_cast<long double>(bound)), within) << text.value << " +- " << text.bound;
  if (bound > 0 && std::isnormal(bound)) {
    EXPECT_LE(within, 1.2L * (bound + std::abs(away))) << text.bound;
  }
}

TEST(printed_value, keeps_the_bound) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-30, 30), mantissa(-10, 10), relative(-17, 1);
  for (int k = 0; k < 20000; ++k) {
    const double value = mantissa(random) * std::pow(10, exponent(random));
    expect_kept(value, std::abs(value) * std::pow(10, relative(random)));
  }
  for (const double value : {0.0, 1.0, -0.1, 1e300, 5e-324, 1 / 3.0})
    for (const double bound : {0.0, 5e-324, 9.96e-10, 9.91e-10, 1.0, 1e300}) expect_kept(value, bound);
}

TEST(printed_value, has_the_digits_that_the_bound_asks_for) {
  const auto text = [](double value, double bound) {
    const printed_value made(value, bound);
    return made.value + " +- " + made.bound;
  };
  EXPECT_EQ(text(0.1234567890123456, 2.7e-16), "0.12345678901234559 +- 2.8e-16");
  EXPECT_EQ(text(0.1234567890123456, 1e-9), "0.12345678901 +- 1.1e-09");
  EXPECT_EQ(text(2, 1e-12), "2 +- 1.0e-12");
  EXPECT_EQ(text(2, 9.91e-13), "2 +- 1.0e-12");
  EXPECT_EQ(text(0, 0), "0 +- 0.0e+00");
  EXPECT_EQ(text(NAN, INFINITY), "nan +- inf");
}

TEST(contradiction, is_a_pair_that_is_called_sure_and_is_not_the_known_one) {
  const sparse::eigenvalue sure{.value = 3, .residual = 0, .error_bound = 0.5, .converged = true, .at_rounding = false};
  sparse::eigenvalue marked = sure, unsettled = sure, open = sure;
  marked.clustered = true, unsettled.unsettled = true, open.converged = false;
  const std::vector<double> other{2}, same{3 + 1e-10};
  EXPECT_EQ(contradiction(std::vector{sure}, other), "lambda 1 is 3 +- 5.0e-01, and 2 by its formula");
  EXPECT_EQ(contradiction(std::vector{sure}, same), "");
  EXPECT_EQ(contradiction(std::vector{sure}, {}), "");
  for (const sparse::eigenvalue& e : {marked, unsettled, open}) EXPECT_EQ(contradiction(std::vector{e}, other), "");
}

}  // namespace
}  // namespace tessera::apps
