// The sets that come with the library, on molecules.
#include "libraries/chemistry/basis/basis.hpp"
#include "core/base/error.hpp"

#include <algorithm>
#include <cmath>

#include "libraries/chemistry/molecule/element.hpp"
#include "tests/unit/chemistry/expect_error.hpp"
#include "tests/unit/chemistry/sample_molecules.hpp"

namespace tessera::chemistry {
namespace {

using testing::ElementsAre;

std::size_t functions_of(const molecule& m, std::string_view set) { return functions(basis_for(m, set)); }

TEST(basis, water_and_benzene_have_the_numbers_of_functions_of_other_programs) {
  EXPECT_EQ(functions_of(water(), "sto-3g"), 7u);
  EXPECT_EQ(functions_of(water(), "3-21g"), 13u);
  EXPECT_EQ(functions_of(water(), "6-31g**"), 25u);
  EXPECT_EQ(functions_of(water(), "cc-pvdz"), 24u);
  EXPECT_EQ(functions_of(water(), "aug-cc-pvdz"), 41u);
  EXPECT_EQ(functions_of(water(), "cc-pvtz"), 58u);
  EXPECT_EQ(functions_of(benzene(), "cc-pvdz"), 114u);
  EXPECT_EQ(functions_of(benzene(), "sto-3g"), 36u);
}

TEST(basis, fitting_sets_have_the_published_shells) {
  // Oxygen and hydrogen: 7s5p4d2f and 3s2p1d; oxygen with diffuse functions 8s6p5d3f; hydrogen of cc-pVTZ-RI 4s3p2d1f.
  EXPECT_EQ(functions_of(water(), "cc-pvdz-ri"), 7u + 15 + 20 + 14 + 2 * (3 + 6 + 5));
  EXPECT_EQ(functions_of({.atoms = {{8, {}}}}, "aug-cc-pvdz-ri"), 8u + 18 + 25 + 21);
  EXPECT_EQ(functions_of({.atoms = {{1, {}}}}, "cc-pvtz-ri"), 4u + 9 + 10 + 7);
}

TEST(basis, fitting_sets_are_not_for_orbitals) {
  EXPECT_THROW(require_orbital_set("cc-pvdz-ri"), error);
  EXPECT_NO_THROW(require_orbital_set("cc-pvdz"));
}

TEST(basis, coefficients_are_as_published) {
  const auto shells = basis_for(water(), "sto-3g");
  ASSERT_EQ(shells.size(), 5u);
  EXPECT_THAT(shells[0].exponents, ElementsAre(130.70932, 23.808861, 6.4436083));
  EXPECT_THAT(shells[0].coefficients, ElementsAre(0.15432897, 0.53532814, 0.44463454));
  EXPECT_THAT(shells[1].coefficients, ElementsAre(-0.09996723, 0.39951283, 0.70011547));
  EXPECT_THAT(shells[2].coefficients, ElementsAre(0.15591627, 0.60768372, 0.39195739));
  EXPECT_EQ(shells[1].exponents, shells[2].exponents);
}

TEST(basis, shells_of_a_general_contraction_share_primitives) {
  // Carbon in cc-pVDZ: two contractions of all s primitives, and the last of them alone.
  const auto shells = basis_for({.atoms = {{6, {}}}}, "cc-pvdz");
  ASSERT_EQ(shells.size(), 6u);
  std::vector<int> momenta;
  momenta.reserve(shells.size());
  for (const shell& one : shells) momenta.push_back(one.momentum);
  EXPECT_THAT(momenta, ElementsAre(0, 0, 0, 1, 1, 2));
  EXPECT_EQ(shells[0].exponents, shells[1].exponents);
  EXPECT_EQ(shells[0].exponents.size(), 9u);
  EXPECT_THAT(shells[2].exponents, ElementsAre(shells[0].exponents.back()));
  EXPECT_THAT(shells[2].coefficients, ElementsAre(1.0));
}

/// The integral of the square of a function whose angular part is normalised.
double square_of(const shell& one) {
  double sum = 0;
  for (std::size_t i = 0; i < one.exponents.size(); ++i)
    for (std::size_t j = 0; j < one.exponents.size(); ++j) {
      const double a = one.exponents[i], b = one.exponents[j];
      sum += one.coefficients[i] * one.coefficients[j] * std::pow(2 * std::sqrt(a * b) / (a + b), one.momentum + 1.5);
    }
  return sum;
}

TEST(basis, published_contractions_are_normalised_to_their_digits) {
  for (const std::string& name : shipped_basis_names())
    for (const auto& [number, shells] : shipped_basis(name).shells_of)
      for (const shell& one : shells)
        EXPECT_NEAR(square_of(one), 1, 1e-5) << name << " " << number << " " << one.momentum;
}

TEST(basis, shells_follow_the_atoms) {
  const molecule m = water();
  const auto shells = basis_for(m, "cc-pvdz");
  EXPECT_TRUE(std::ranges::is_sorted(shells, {}, &shell::atom));
  for (const shell& one : shells) {
    ASSERT_LT(one.atom, 3u);
    EXPECT_EQ(one.at, m.atoms[one.atom].at);
    EXPECT_EQ(one.exponents.size(), one.coefficients.size());
  }
}

TEST(basis, d_functions_are_cartesian_in_6_31g_alone) {
  for (const std::string& name : shipped_basis_names()) {
    const basis_set set = shipped_basis(name);
    for (const auto& [number, shells] : set.shells_of)
      for (const shell& one : shells)
        EXPECT_EQ(one.momentum < 2 || one.spherical, one.momentum < 2 || name != "6-31g**") << name << " " << number;
  }
}

TEST(basis, sets_reach_from_hydrogen_to_neon) {
  for (const std::string& name : shipped_basis_names()) {
    const basis_set set = shipped_basis(name);
    EXPECT_EQ(set.name, name);
    for (int number = 1; number <= 10; ++number)
      EXPECT_EQ(set.shells_of.contains(number), !(name == "aug-cc-pvdz-ri" && number == 3)) << name << " " << number;
  }
}

TEST(basis, names_have_variants) {
  for (const char* name : {"6-31G**", "6-31g(d,p)", "6-31G(D,P)", "6-31gss"})
    EXPECT_EQ(functions_of(water(), name), 25u);
  EXPECT_EQ(functions_of(water(), "cc-pVDZ"), 24u);
  EXPECT_EQ(functions_of(water(), "cc-pVDZ-RIFIT"), functions_of(water(), "cc-pvdz-ri"));
}

TEST(basis, an_unknown_name_is_refused_with_the_nearest) {
  expect_refused([] { (void)shipped_basis("cc-pvzd"); }, "'cc-pvzd'", "", "did you mean 'cc-pvdz'?");
  expect_refused([] { (void)shipped_basis("def2-svp"); }, "'def2-svp'", "", "there are sto-3g, 3-21g, 6-31g**");
  expect_refused([] { (void)shipped_basis(""); }, "''", "", "there are sto-3g");
}

TEST(basis, an_element_that_a_set_lacks_is_refused_with_its_atom) {
  const molecule salt = {.atoms = {{9, {0, 0, 0}}, {11, {0, 0, 3.6}}}, .name = "salt.xyz"};
  expect_refused([&] { (void)basis_for(salt, "cc-pvdz"); }, "the basis set cc-pvdz lacks Na", "atom 2 of salt.xyz",
                 "it has H, He, Li");
  expect_refused([] { (void)basis_for({.atoms = {{3, {}}}}, "aug-cc-pvdz-ri"); }, "lacks Li", "atom 1");
}

TEST(basis, own_sets_are_used_like_shipped_ones) {
  const basis_set own = parse_gaussian94("Li 0\nS 1 1.0\n0.5 1.0\n****\n", "own");
  EXPECT_EQ(functions(basis_for({.atoms = {{3, {}}, {3, {0, 0, 5}}}}, own)), 2u);
}

}  // namespace
}  // namespace tessera::chemistry
