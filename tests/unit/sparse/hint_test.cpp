// What is said of a run that did not converge, and how fast residuals fall.
#include "apps/sparse/solver/hint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/sparse/solver/pace.hpp"

namespace tessera::sparse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class hint_for_a_run : public ::testing::Test {
 protected:
  using enum preconditioning;

  /// Of a run that found a value of this part of the norm.
  static std::string hint(const char* solver, preconditioning how, double part, std::optional<double> left,
                          std::int64_t order = 100000) {
    const eigen_options o{.precondition = how};
    eigenpairs found;
    found.values = {{.value = part, .residual = 1, .error_bound = 1, .converged = false, .at_rounding = false}};
    found.norm = 1, found.block = 8, found.loop.iterations = 1000;
    return hint_for({eigensolver_named(solver), o, found, order, left});
  }
};

TEST_F(hint_for_a_run, has_the_iterations_that_the_pace_asks_for) {
  EXPECT_THAT(hint("lobpcg", none, 0.5, 200.0), StartsWith("--iterations 1300, by the pace"));
  EXPECT_THAT(hint("lobpcg", none, 0.5, std::nullopt), HasSubstr("more --iterations"));
  EXPECT_THAT(hint("lobpcg", none, 0.5, 1e9), Not(HasSubstr("--iterations")));
}

TEST_F(hint_for_a_run, has_what_tells_apart_values_that_are_close_together) {
  EXPECT_THAT(hint("lanczos", automatic, 1e-6, 9.0), HasSubstr("--solver lobpcg --precond block-jacobi"));
  EXPECT_THAT(hint("lobpcg", jacobi, 1e-6, 9.0), HasSubstr("--precond block-jacobi, --block 16"));
  EXPECT_THAT(hint("lobpcg", jacobi, 1e-6, 9.0), HasSubstr("--solver chebyshev"));
  EXPECT_THAT(hint("lobpcg", jacobi, 0.5, 9.0), Not(HasSubstr("close together")));
}

TEST_F(hint_for_a_run, names_nothing_that_the_run_had) {
  EXPECT_THAT(hint("lobpcg", block_jacobi, 1e-6, 9.0), Not(HasSubstr("--precond")));
  EXPECT_THAT(hint("chebyshev", automatic, 1e-6, 9.0), Not(HasSubstr("--solver chebyshev")));
}

TEST_F(hint_for_a_run, knows_that_a_small_matrix_can_be_a_dense_one) {
  EXPECT_THAT(hint("lanczos", automatic, 0.5, 9.0, 300), HasSubstr("--solver lobpcg --block 101"));
  EXPECT_THAT(hint("lanczos", automatic, 0.5, 9.0), Not(HasSubstr("dense")));
}

TEST(pace_of_residuals, is_that_of_the_worst_pair) {
  const stopping_rule rule{.compare = criterion::absolute, .tolerance = 1e-8, .norm = 1, .rounding = 1e-15};
  convergence_pace pace;
  for (int k = 0; k <= 4; ++k) {
    EXPECT_EQ(pace.iterations_left(4), std::nullopt);
    pace.note(rule, {1, 2}, {std::pow(10, -k), std::pow(10, -0.5 * k)});
  }
  EXPECT_NEAR(pace.iterations_left(4).value(), 12, 1e-9);  // at 1e-2: six powers of ten, half of one in each
  for (int k = 0; k < 4; ++k) pace.note(rule, {1, 2}, {1e-9, 1e-2});
  EXPECT_TRUE(std::isinf(pace.iterations_left(4).value()));
  pace.note(rule, {1, 2}, {1e-9, 1e-9});
  EXPECT_EQ(pace.iterations_left(4), 0);
  pace.restart();
  EXPECT_EQ(pace.iterations_left(1), std::nullopt);
}

}  // namespace
}  // namespace tessera::sparse
