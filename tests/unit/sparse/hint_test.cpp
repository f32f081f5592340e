// What is said of a run that did not converge, and how fast residuals fall.
#include "libraries/sparse/solver/hint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libraries/sparse/solver/pace.hpp"

namespace tessera::sparse {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class hint_for_a_run : public ::testing::Test {
 protected:
  using enum preconditioning;

  /// Of a run that found a value of this part of the norm.
  static std::string hint(const char* solver, preconditioning how, double part, std::optional<double> left,
                          std::int64_t order = 100000) {
    return hint_with(solver, {.max_iterations = 1000, .precondition = how}, part, left, order);
  }
  static std::string hint_with(const char* solver, const eigen_options& o, double part, std::optional<double> left,
                               std::int64_t order = 100000, bool preconditioner_asked = false) {
    eigenpairs found;
    found.values = {{.value = part, .residual = 1, .error_bound = 1, .converged = false, .at_rounding = false}};
    found.norm = 1, found.block = o.block != 0 ? o.block : 8, found.loop.iterations = 1000;
    return hint_for({eigensolver_named(solver), o, found, order, left, preconditioner_asked});
  }
};

TEST_F(hint_for_a_run, has_the_iterations_that_the_pace_asks_for) {
  EXPECT_THAT(hint("lobpcg", none, 0.5, 200.0), StartsWith("--iterations 1300, by the pace"));
  EXPECT_THAT(hint("lobpcg", none, 0.5, std::nullopt), HasSubstr("more --iterations"));
  EXPECT_THAT(hint("lobpcg", none, 0.5, 1e9), Not(HasSubstr("--iterations")));
  const double endless = std::numeric_limits<double>::infinity();  // residuals that do not fall
  EXPECT_THAT(hint("lobpcg", none, 0.5, endless), Not(HasSubstr("--iterations")));
  // By its estimates it had converged: as many restarts as it had are no advice.
  EXPECT_THAT(hint("lanczos", none, 0.5, 0.0), Not(HasSubstr("--iterations")));
  EXPECT_EQ(hint_with("lobpcg", {.max_iterations = 0}, 1e-6, std::nullopt, 300), "more --iterations");
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

TEST_F(hint_for_a_run, names_nothing_that_the_command_would_refuse) {
  const eigen_options at_both{.which = spectrum_end::both};
  EXPECT_THAT(hint_with("lanczos", at_both, 1e-6, 9.0),
              AllOf(HasSubstr("--solver chebyshev"), Not(HasSubstr("lobpcg"))));
  EXPECT_THAT(hint_with("chebyshev", at_both, 1e-6, 9.0), Not(HasSubstr("lobpcg")));
  const csr_matrix full = matrix_of("B", 2, 2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}}),
                   diagonal = matrix_of("B", 2, 2, {{0, 0, 2}, {0, 1, 0}, {1, 1, 2}});
  EXPECT_THAT(hint_with("lobpcg", {.precondition = none, .mass = &full}, 1e-6, 9.0), Not(HasSubstr("chebyshev")));
  EXPECT_THAT(hint_with("lobpcg", {.precondition = none, .mass = &diagonal}, 1e-6, 9.0), HasSubstr("chebyshev"));
  EXPECT_THAT(hint_with("lobpcg", {.precondition = jacobi}, 1e-6, 9.0, 100000, true),
              HasSubstr("--solver chebyshev without --precond"));
  EXPECT_THAT(hint_with("chebyshev", {.degree = 20}, 1e-6, 9.0), HasSubstr("block-jacobi without --degree"));
  EXPECT_THAT(hint_with("lanczos", {.orthogonal = reorthogonalization::selective}, 1e-6, 9.0),
              HasSubstr("block-jacobi without --reorthogonalize"));
}

TEST_F(hint_for_a_run, asks_for_no_fewer_iterations_than_there_were) {
  EXPECT_THAT(hint_with("chebyshev", {.max_iterations = 2000}, 0.5, 200.0), Not(HasSubstr("--iterations")));
  EXPECT_THAT(hint_with("chebyshev", {.max_iterations = 1299}, 0.5, 200.0), HasSubstr("--iterations 1300"));
  eigenpairs found;
  found.values = {{.value = 0.5, .residual = 1, .error_bound = 1, .converged = false, .at_rounding = false}};
  found.norm = 1, found.block = 8, found.loop.iterations = 109, found.gave_up = true;
  EXPECT_THAT(hint_for({eigensolver_named("chebyshev"), {.max_iterations = 300}, found, 100000, 90.0}),
              AllOf(StartsWith("the solver gave up, since by its pace the 300 iterations were not enough; "),
                    Not(HasSubstr("--iterations"))));
}

TEST_F(hint_for_a_run, says_that_pairs_were_passed_over) {
  eigen_options o{.max_iterations = 0};
  eigenpairs found;
  found.values = {{.value = 31, .residual = 0, .error_bound = 0, .converged = false, .at_rounding = false}};
  found.norm = 100, found.block = 4, found.passed_over = {1.25, 9};
  EXPECT_EQ(hint_for({eigensolver_named("lobpcg"), o, found, 100000, std::nullopt}),
            "pairs were passed over, the outermost near 1.25 or further out: more --iterations, a larger --block");
  o.max_iterations = 10, o.guess = {1}, o.which = spectrum_end::largest;
  EXPECT_EQ(
      hint_for({eigensolver_named("lobpcg"), o, found, 100000, std::nullopt}),
      "pairs were passed over, the outermost near 9 or further out: another --seed, a larger --block, or no --guess");
}

TEST_F(hint_for_a_run, has_a_smaller_block_for_lanczos) {
  EXPECT_THAT(hint("lanczos", automatic, 0.5, 9.0), AllOf(HasSubstr("--block 1,"), Not(HasSubstr("larger --block"))));
  EXPECT_THAT(hint_with("lanczos", {.block = 1}, 0.5, 9.0), Not(HasSubstr("--block")));
}

TEST_F(hint_for_a_run, knows_first_of_all_that_a_small_matrix_can_be_a_dense_one) {
  EXPECT_THAT(hint("lanczos", automatic, 0.5, 9.0, 300),
              StartsWith("--block 300, which solves it as a dense matrix; "));
  EXPECT_THAT(hint_with("chebyshev", {.which = spectrum_end::both}, 0.5, 9.0, 300), StartsWith("--block 300, which"));
  EXPECT_THAT(hint("lanczos", automatic, 0.5, 9.0), Not(HasSubstr("dense")));
}

TEST_F(hint_for_a_run, knows_that_a_dense_solution_does_not_go_on) {
  const csr_matrix full = matrix_of("B", 2, 2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}});
  eigenpairs found;
  found.values = {{.value = 1e-6, .residual = 1, .error_bound = 1, .converged = false, .at_rounding = false}};
  found.norm = 1, found.block = 300, found.dense = true;
  const auto said = [&](const eigen_options& o) {
    return hint_for({eigensolver_named("lobpcg"), o, found, 300, std::nullopt});
  };
  EXPECT_EQ(said({.pairs = 2, .block = 300, .mass = &full}),
            "--block 30 or less, with which LOBPCG iterates: of this pencil a dense solution is no more exact; a "
            "larger --tol");
  EXPECT_EQ(said({.pairs = 40, .block = 300, .mass = &full}), "a larger --tol");
  EXPECT_EQ(said({.pairs = 2, .block = 300, .deflate = {1}}),
            "deflated vectors must be eigenvectors as exact as --tol; a larger --tol");
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
