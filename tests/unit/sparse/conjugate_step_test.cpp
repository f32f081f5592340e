// The small problem of LOBPCG, with bases whose directions depend on each other nearly.
#include "libraries/sparse/solver/conjugate_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libraries/sparse/solver/convergence.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t rows_of_example = 40, width_of_example = 3;

/// Vectors with A = diag(1, 2, ...) and their small problem.
struct conjugate_example {
  small_table s{rows_of_example, 3 * width_of_example};

  /// X and P orthonormal to rounding, R random.
  explicit conjugate_example(std::uint64_t seed = 1) {
    const std::vector<double> random = random_start(s.rows * s.columns, seed);
    std::ranges::copy(random, s.numbers.begin());
    for (const std::int64_t first : {std::int64_t{0}, 2 * width_of_example})
      for (std::int64_t j = first; j < first + width_of_example; ++j)
        for (int twice = 0; twice < 2; ++twice) {
          for (std::int64_t k = 0; k < j; ++k)
            if (k < width_of_example || k >= 2 * width_of_example) add(-overlap(k, j), k, j);
          scale(j, 1 / std::sqrt(overlap(j, j)));
        }
  }
  double overlap(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t k = 0; k < s.rows; ++k) sum += s(k, i) * s(k, j);
    return sum;
  }
  void add(double factor, std::int64_t from, std::int64_t to) {
    for (std::int64_t k = 0; k < s.rows; ++k) s(k, to) += factor * s(k, from);
  }
  void scale(std::int64_t column, double factor) {
    for (std::int64_t k = 0; k < s.rows; ++k) s(k, column) *= factor;
  }
  pencil products() const {
    small_table as = s;
    for (std::int64_t i = 0; i < s.rows; ++i)
      for (std::int64_t j = 0; j < s.columns; ++j) as(i, j) *= static_cast<double>(i + 1);
    return {s.columns, adjoint_product(s, as).numbers, adjoint_product(s, s).numbers};
  }
  conjugate_step step(spectrum_end end = spectrum_end::smallest) const {
    return conjugate_step_of(products(), width_of_example, end, std::vector<bool>(9, true),
                             std::vector<double>(6, 1.0));
  }
  /// The next X or P.
  small_table combined(const std::vector<double>& coefficients) const {
    small_table c(s.columns, width_of_example);
    c.numbers = coefficients;
    return product(s, c);
  }
};

void expect_overlap(const small_table& a, const small_table& b, double diagonal) {
  const small_table g = adjoint_product(a, b);
  for (std::int64_t i = 0; i < g.rows; ++i)
    for (std::int64_t j = 0; j < g.columns; ++j) EXPECT_NEAR(g(i, j), i == j ? diagonal : 0, 1e-9) << i << ' ' << j;
}

TEST(conjugate_step, solves_the_small_problem_with_orthonormal_vectors_and_directions) {
  for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
    const conjugate_example of;
    const conjugate_step step = of.step(end);
    const ritz_step plain = rayleigh_ritz(of.products(), width_of_example, end, std::vector<bool>(9, true));
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(step.values[k], plain.values[k], 1e-12);
    const small_table x = of.combined(step.vectors), p = of.combined(step.directions);
    expect_overlap(x, x, 1), expect_overlap(p, p, 1), expect_overlap(x, p, 0);
    EXPECT_EQ(step.dropped, 0);
    for (const double g : step.growth) EXPECT_LT(g, 3);
  }
}

TEST(conjugate_step, spans_what_the_next_vectors_have_outside_of_the_last_ones) {
  const conjugate_example of;
  const conjugate_step step = of.step();
  // The next X and P together span the next X and its part without X.
  conjugate_step part = step;
  std::fill_n(part.vectors.begin(), width_of_example * width_of_example, 0.0);
  small_table left = of.combined(part.vectors);
  for (const small_table& known : {of.combined(step.vectors), of.combined(step.directions)}) {
    const small_table inside = product(known, adjoint_product(known, left));
    for (std::size_t k = 0; k < left.numbers.size(); ++k) left.numbers[k] -= inside.numbers[k];
  }
  for (const double v : left.numbers) EXPECT_NEAR(v, 0, 1e-12);
}

TEST(conjugate_step, makes_no_number_large_of_a_tiny_step) {
  // X has converged but for 1e-9: the residuals are tiny, and all directions are multiples of them.
  conjugate_example of;
  std::ranges::fill(of.s.numbers, 0.0);
  for (std::int64_t j = 0; j < width_of_example; ++j) of.s(j, j) = 1, of.s(10 + j, j) = 1e-9;
  for (std::int64_t j = 0; j < width_of_example; ++j)
    for (const std::int64_t i : {j, 10 + j}) of.s(i, 3 + j) = static_cast<double>(i - j) * of.s(i, j);
  for (std::int64_t j = 0; j < width_of_example; ++j) of.s(20 + j, 6 + j) = 1;  // P has nothing to add
  const conjugate_step step = of.step();
  const small_table x = of.combined(step.vectors), p = of.combined(step.directions);
  expect_overlap(x, x, 1), expect_overlap(p, p, 1), expect_overlap(x, p, 0);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(step.values[k], static_cast<double>(k + 1), 1e-12);
  for (const double g : step.growth) EXPECT_LT(g, 3);
  const pencil of_p = of.products();
  for (std::size_t row = 0; row < 9; ++row)
    for (std::size_t j = 0; j < 3; ++j)  // of columns of unit length
      EXPECT_LT(std::abs(step.directions[row * 3 + j]) * std::sqrt(of_p.products[row * 9 + row]), 1.5);
}

TEST(conjugate_step, leaves_out_residuals_that_depend_on_others) {
  conjugate_example of;
  for (std::int64_t k = 0; k < of.s.rows; ++k) of.s(k, 4) = 2 * of.s(k, 3), of.s(k, 5) = of.s(k, 0) - 3 * of.s(k, 7);
  const conjugate_step step = of.step();
  EXPECT_EQ(step.dropped, 2);
  const small_table x = of.combined(step.vectors);
  expect_overlap(x, x, 1);
  of.scale(4, 0);
  EXPECT_EQ(of.step().dropped, 2);
}

TEST(conjugate_step, says_how_errors_of_earlier_products_grow) {
  // What R has beside P is a hundred-thousandth of it: to use it, P is multiplied by 1e5.
  for (const double distance : {1e-2, 1e-5}) {
    conjugate_example of;
    for (std::int64_t j = 3; j < 6; ++j) of.scale(j, distance / std::sqrt(of.overlap(j, j))), of.add(1, j + 3, j);
    const conjugate_step step = of.step();
    EXPECT_EQ(step.dropped, 0);
    const double most = *std::ranges::max_element(step.growth);
    EXPECT_GT(most, 0.3 / distance);
    EXPECT_LT(most, 30 / distance);
  }
}

TEST(conjugate_step, begins_anew_where_directions_are_bad) {
  conjugate_example of;
  for (std::int64_t j = 6; j < 9; ++j) of.scale(j, 0.05), of.add(1, j - 6, j);  // nearly X
  EXPECT_EQ(of.step().dropped, 3);
  const std::vector<bool> used{true, true, true, true, true, true, true, false, true};
  EXPECT_EQ(
      conjugate_step_of(conjugate_example().products(), 3, spectrum_end::smallest, used, std::vector<double>(6, 1.0))
          .dropped,
      1);
}

}  // namespace
}  // namespace tessera::sparse
