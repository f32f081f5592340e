// What follows from a molecule, and which molecules there cannot be.
#include "libraries/chemistry/molecule/molecule.hpp"

#include <limits>

#include "tests/unit/chemistry/expect_error.hpp"
#include "tests/unit/chemistry/sample_molecules.hpp"

namespace tessera::chemistry {
namespace {

TEST(molecule, nuclear_repulsion_is_that_of_other_programs) {
  EXPECT_NEAR(nuclear_repulsion(water()), 9.196933718087, 1e-12);
  EXPECT_NEAR(nuclear_repulsion(benzene()), 204.019958271737, 2e-10);
  EXPECT_EQ(nuclear_repulsion({.atoms = {{2, {0, 0, 0}}}}), 0);
}

TEST(molecule, electrons_are_nuclear_charges_less_the_charge) {
  molecule m = water();
  EXPECT_EQ(electrons(m), 10);
  m.charge = 2;
  EXPECT_EQ(electrons(m), 8);
  m.charge = -1;
  EXPECT_EQ(electrons(m), 11);
  m.charge = 10;
  EXPECT_EQ(electrons(m), 0);
  m.charge = 11;
  expect_refused([&] { (void)electrons(m); }, "the charge is 11, and the nuclei have 10", "water");
  m.charge = std::numeric_limits<int>::min();
  expect_refused([&] { (void)electrons(m); }, "too many electrons", "water");
}

TEST(molecule, the_core_is_the_noble_gas_before) {
  EXPECT_EQ(frozen_core_orbitals(water()), 1);
  EXPECT_EQ(frozen_core_orbitals(benzene()), 6);
  const auto core_of = [](int number) { return frozen_core_orbitals({.atoms = {{number, {}}}}); };
  EXPECT_EQ(core_of(1), 0);
  EXPECT_EQ(core_of(2), 0);
  EXPECT_EQ(core_of(3), 1);
  EXPECT_EQ(core_of(10), 1);
  EXPECT_EQ(core_of(11), 5);
  EXPECT_EQ(core_of(18), 5);
  EXPECT_EQ(core_of(19), 9);
  EXPECT_EQ(core_of(36), 9);
  EXPECT_EQ(core_of(37), 18);
  EXPECT_EQ(core_of(55), 27);
  EXPECT_EQ(core_of(87), 43);
}

TEST(molecule, sound_ones_pass_the_check) {
  check(water());
  check(benzene());
  check({.atoms = {{8, {0, 0, 0}}, {8, {0, 0, 2.3}}}, .multiplicity = 3});
  check({.atoms = {{1, {}}}, .multiplicity = 2});
  check({.atoms = {{7, {}}}, .multiplicity = 4});
}

TEST(molecule, atoms_on_top_of_each_other_are_refused) {
  molecule m = water();
  m.atoms[2].at = {0, 1.429936714, 0.986043855 + 0.05};
  expect_refused([&] { check(m); }, "atoms H 2 and H 3 are 0.05 bohr apart", "water", "twice");
  m.atoms[2].at = m.atoms[0].at;
  expect_refused([&] { check(m); }, "atoms O 1 and H 3 are 0 bohr apart", "water");
  m.atoms[2].at = {0, 0, -0.1211314446 + 0.11};
  check(m);
}

TEST(molecule, charge_and_multiplicity_fit_the_electrons) {
  const auto refused = [](int charge, int multiplicity, const char* message, const char* hint) {
    molecule m = water();
    m.charge = charge;
    m.multiplicity = multiplicity;
    expect_refused([&] { check(m); }, message, "water", hint);
  };
  refused(0, 2, "10 electrons do not have multiplicity 2", "odd multiplicity");
  refused(1, 1, "9 electrons do not have multiplicity 1", "even multiplicity");
  refused(0, 0, "the multiplicity is 0", "singlet");
  refused(0, -1, "the multiplicity is -1", "singlet");
  refused(0, 13, "needs 12 unpaired electrons; there are 10", "charge");
  refused(10, 1, "no electrons", "");
  refused(11, 1, "the charge is 11", "positive charge");
}

TEST(molecule, atoms_are_elements_at_places) {
  expect_refused([] { check({.name = "nothing"}); }, "no atoms", "nothing");
  expect_refused([] { check({.atoms = {{0, {}}}, .name = "ghost"}); }, "atom 1 has the number 0", "ghost");
  expect_refused([] { check({.atoms = {{119, {}}}, .name = "heavy"}); }, "atom 1 has the number 119", "heavy");
  expect_refused(
      [] {
        check({.atoms = {{2, {0, std::numeric_limits<double>::quiet_NaN(), 0}}}});
      },
      "a coordinate of atom He 1 is not finite", "");
}

}  // namespace
}  // namespace tessera::chemistry
