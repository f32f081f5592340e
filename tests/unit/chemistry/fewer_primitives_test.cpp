// Contractions with fewer primitives span the functions that they are made from.
#include "libraries/chemistry/basis/fewer_primitives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libraries/chemistry/basis/basis.hpp"
#include "tests/unit/chemistry/sample_molecules.hpp"

namespace tessera::chemistry {
namespace {

/// Of radial parts, normalised primitives.
double overlap(const shell& one, const shell& other) {
  double sum = 0;
  for (std::size_t k = 0; k < one.exponents.size(); ++k)
    for (std::size_t l = 0; l < other.exponents.size(); ++l) {
      const double a = one.exponents[k], b = other.exponents[l];
      sum += one.coefficients[k] * other.coefficients[l] * std::pow(2 * std::sqrt(a * b) / (a + b), one.momentum + 1.5);
    }
  return sum;
}

shell sum_of(const shell& one, double factor, const shell& other) {
  shell sum = one;
  for (std::size_t k = 0; k < other.exponents.size(); ++k) {
    sum.exponents.push_back(other.exponents[k]);
    sum.coefficients.push_back(factor * other.coefficients[k]);
  }
  return sum;
}

/// The square of what a function has outside of the span of others, over its own.
double outside(shell function, const std::vector<shell>& span) {
  std::vector<shell> orthogonal;
  const double whole = overlap(function, function);
  for (shell one : span) {
    for (const shell& before : orthogonal) one = sum_of(one, -overlap(one, before) / overlap(before, before), before);
    function = sum_of(function, -overlap(function, one) / overlap(one, one), one);
    orthogonal.push_back(std::move(one));
  }
  return overlap(function, function) / whole;
}

std::size_t primitives(const std::vector<shell>& of) {
  std::size_t sum = 0;
  for (const shell& one : of) sum += one.exponents.size();
  return sum;
}

TEST(fewer_primitives, span_the_same_functions) {
  for (const int element : {1, 6, 8, 10})
    for (const char* const name : {"sto-3g", "3-21g", "6-31g**", "cc-pvdz", "aug-cc-pvdz", "cc-pvtz"}) {
      const std::vector<shell> before = basis_for({.atoms = {{element, {}}}}, name),
                               after = with_fewer_primitives(before);
      ASSERT_EQ(after.size(), before.size());
      EXPECT_LE(primitives(after), primitives(before));
      for (std::size_t k = 0; k < before.size(); ++k) {
        EXPECT_EQ(after[k].momentum, before[k].momentum);
        EXPECT_NEAR(overlap(after[k], after[k]), 1, 2e-5) << name << " " << element << " " << k;
        std::vector<shell> same;
        std::ranges::copy_if(after, std::back_inserter(same),
                             [&](const shell& one) { return one.momentum == before[k].momentum; });
        EXPECT_LT(outside(before[k], same), 1e-12) << name << " " << element << " " << k;
      }
    }
}

TEST(fewer_primitives, of_carbon_are_twenty) {
  const std::vector<shell> before = basis_for({.atoms = {{6, {}}}}, "cc-pvdz");
  EXPECT_EQ(primitives(before), 25u);
  EXPECT_EQ(primitives(with_fewer_primitives(before)), 20u);
}

TEST(fewer_primitives, atoms_keep_their_own) {
  const std::vector<shell> water_shells = with_fewer_primitives(basis_for(water(), "cc-pvdz"));
  const std::vector<shell> oxygen = with_fewer_primitives(basis_for({.atoms = {{8, {}}}}, "cc-pvdz"));
  for (std::size_t k = 0; k < oxygen.size(); ++k) EXPECT_EQ(water_shells[k].exponents, oxygen[k].exponents);
}

TEST(fewer_primitives, what_is_alone_or_would_grow_stays) {
  const auto s = [](std::vector<double> exponents, std::vector<double> coefficients) {
    shell one;
    one.exponents = std::move(exponents);
    one.coefficients = std::move(coefficients);
    return one;
  };
  const std::vector<shell> twice{s({1.0}, {1.0}), s({1.0}, {1.0})};
  EXPECT_EQ(with_fewer_primitives(twice)[1].exponents.size(), 1u) << "a function does not vanish";
  // More than all of the other contraction would be taken away.
  const std::vector<shell> steep{s({9.0, 3.0, 1.0}, {1e-6, 0.5, 0.6}), s({9.0, 3.0, 1.0}, {0.9, 0.3, 0.1})};
  EXPECT_EQ(with_fewer_primitives(steep)[1].exponents.size(), 3u);
}

}  // namespace
}  // namespace tessera::chemistry
