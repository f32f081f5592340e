#include "apps/comd/crystal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/comd/units.hpp"

namespace tessera::testing {
namespace {

using namespace apps::comd;

TEST(comd_crystal, has_four_atoms_per_lattice_cell_numbered_with_z_fastest) {
  const crystal c = make_crystal({2, 3, 4}, 2);
  ASSERT_EQ(c.atoms(), 96);
  EXPECT_EQ(c.box(), (vector3{4, 6, 8}));
  EXPECT_EQ(c.positions[0], (vector3{0.5, 0.5, 0.5}));
  EXPECT_EQ(c.positions[1], (vector3{0.5, 1.5, 1.5}));
  EXPECT_EQ(c.positions[2], (vector3{1.5, 0.5, 1.5}));
  EXPECT_EQ(c.positions[3], (vector3{1.5, 1.5, 0.5}));
  EXPECT_EQ(c.positions[4], (vector3{0.5, 0.5, 2.5}));                          // the next cell along z
  EXPECT_EQ(c.positions[4 * (3 + 4 * (2 + 3 * 1))], (vector3{2.5, 4.5, 6.5}));  // cell (1, 2, 3)
}

TEST(comd_crystal, rests_and_has_the_energy_of_the_temperature) {
  crystal c = make_crystal({5, 4, 3}, 3.615);
  const double mass = copper_mass * atomic_mass_unit;
  set_temperature(c, mass, 600);
  vector3 total{};
  double kinetic = 0;
  for (const vector3& p : c.momenta)
    for (std::size_t a = 0; a < 3; ++a) total[a] += p[a], kinetic += p[a] * p[a] / (2 * mass);
  for (const double p : total) EXPECT_LE(std::abs(p), 1e-9);
  EXPECT_NEAR(kinetic / static_cast<double>(c.atoms()), 0.0775559916, 1e-13);
  EXPECT_NE(c.momenta[0], c.momenta[1]);
}

TEST(comd_crystal, momenta_belong_to_numbers) {
  crystal small = make_crystal({3, 3, 3}, 1), large = make_crystal({5, 3, 3}, 1);
  set_temperature(small, 1, 300);
  set_temperature(large, 1, 300);
  // The same numbers, but for the mean that is taken off and the scale.
  const double scale = (large.momenta[1][0] - large.momenta[0][0]) / (small.momenta[1][0] - small.momenta[0][0]);
  EXPECT_NEAR(scale, 1, 0.1);
  for (std::size_t k = 1; k < 20; ++k)
    EXPECT_NEAR((large.momenta[k][2] - large.momenta[0][2]) / (small.momenta[k][2] - small.momenta[0][2]), scale, 1e-9);
}

TEST(comd_crystal, momenta_belong_to_the_seed) {
  crystal first = make_crystal({2, 2, 2}, 1), second = first, again = first;
  set_temperature(first, 1, 300, 1);
  set_temperature(second, 1, 300, 2);
  set_temperature(again, 1, 300, 2);
  EXPECT_NE(first.momenta, second.momenta);
  EXPECT_EQ(second.momenta, again.momenta);
}

TEST(comd_crystal, atoms_of_zero_kelvin_rest) {
  crystal c = make_crystal({2, 2, 2}, 1);
  set_temperature(c, 1, 0);
  for (const vector3& p : c.momenta)
    for (const double component : p) EXPECT_EQ(std::abs(component), 0);
}

}  // namespace
}  // namespace tessera::testing
