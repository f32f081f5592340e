// Potentials: their functions, their slopes, and the sums over lattices and pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "apps/comd/reference.hpp"

namespace tessera::testing {
namespace {

using namespace apps::comd;

cubic_table<double> table_of(const std::vector<double>& coefficients, const samples& of) {
  return table_over(coefficients.data(), static_cast<std::int64_t>(of.values.size()) - 1, of.step);
}

TEST(comd_table, follows_a_cubic_polynomial) {
  const auto f = [](double x) { return 1 - x + 0.5 * x * x - 0.25 * x * x * x; };
  samples of{0.5, {}};
  for (int k = 0; k < 12; ++k) of.values.push_back(f(0.5 * k));
  const std::vector<double> coefficients = cubic_coefficients(of);
  const cubic_table<double> table = table_of(coefficients, of);
  for (double x = 1; x < 4.5; x += 0.07) {  // the slopes of the first and the last two samples are simpler
    EXPECT_NEAR(table.value(x), f(x), 1e-12);
    EXPECT_NEAR(table.slope(x), -1 + x - 0.75 * x * x, 1e-12);
  }
  for (std::size_t k = 0; k < of.values.size(); ++k)
    EXPECT_NEAR(table.value(0.5 * static_cast<double>(k)), of.values[k], 1e-12);
}

TEST(comd_table, knows_its_own_slope_everywhere) {
  const samples of{0.3, {5, 1, -2, 4, 4, 0, 3, 8}};
  const std::vector<double> coefficients = cubic_coefficients(of);
  const cubic_table<double> table = table_of(coefficients, of);
  for (double x = 0.01; x < 2.4; x += 0.013)  // beyond the last sample too
    EXPECT_NEAR(table.slope(x), (table.value(x + 1e-6) - table.value(x - 1e-6)) / 2e-6, 1e-4) << x;
  EXPECT_TRUE(std::isfinite(table.value(1e30)));
  EXPECT_TRUE(std::isnan(table.value(std::nan(""))));
}

TEST(comd_lennard_jones, has_its_well_and_ends_at_the_cutoff) {
  const lennard_jones lj;
  const double bottom = std::pow(2.0, 1.0 / 3) * lj.sigma * lj.sigma;  // square of the distance
  EXPECT_NEAR(lj.force(bottom), 0, 1e-14);
  EXPECT_NEAR(lj.energy(bottom), -lj.epsilon - 4 * lj.epsilon * lj.shift(), 1e-14);
  EXPECT_NEAR(lj.energy(lj.cutoff * lj.cutoff), 0, 1e-14);
  for (double r = 2; r < 5.7; r += 0.1) {
    const double slope = (lj.energy((r + 1e-6) * (r + 1e-6)) - lj.energy((r - 1e-6) * (r - 1e-6))) / 2e-6;
    EXPECT_NEAR(lj.force(r * r) * r, -slope, 1e-6 * std::max(1.0, std::abs(slope))) << r;
  }
}

TEST(comd_lennard_jones, lattice_has_the_known_energy) {
  EXPECT_NEAR(lattice_energy(lennard_jones(), 3.615), -1.243619295078, 1e-10);
}

TEST(comd_sutton_chen, lattice_has_the_energy_of_its_formulas) {
  const embedded_atom copper = sutton_chen_copper();
  double pairs = 0, density = 0;
  const double a = 3.61;
  for (int x = -4; x <= 4; ++x)
    for (int y = -4; y <= 4; ++y)
      for (int z = -4; z <= 4; ++z) {
        const double r = a / 2 * std::sqrt(x * x + y * y + z * z);
        if ((x + y + z) % 2 != 0 || r == 0 || r >= 7) continue;
        const double u = std::max(0.0, r - 6), fade = 1 - u * u * u * (10 - 15 * u + 6 * u * u);
        pairs += std::pow(a / r, 9) * fade, density += std::pow(a / r, 6) * fade;
      }
  const double expected = 0.012382 * (pairs / 2 - 39.432 * std::sqrt(density));
  EXPECT_NEAR(lattice_energy(copper, a), expected, 1e-8);
  EXPECT_NEAR(expected, -3.49, 0.1);  // the cohesive energy of copper
}

/// A crystal whose atoms have moved.
std::vector<vector3> moved_atoms(const crystal& c, double by) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> step(-by, by);
  std::vector<vector3> moved = c.positions;
  for (vector3& p : moved)
    for (double& x : p) x += step(random);
  return moved;
}

TEST(comd_all_pairs, forces_are_the_slope_of_the_energy) {
  const crystal c = make_crystal({4, 4, 4}, 3.615);
  const std::vector<vector3> atoms = moved_atoms(c, 0.2);
  for (const potential& by : {potential(lennard_jones()), potential(sutton_chen_copper())}) {
    const all_pairs sums = sum_over_all_pairs(by, c.box(), atoms);
    for (const std::size_t k : {0, 77, 255})
      for (std::size_t a = 0; a < 3; ++a) {
        const double h = 1e-5;
        std::vector<vector3> there = atoms, back = atoms;
        there[k][a] += h, back[k][a] -= h;
        const double slope =
            (sum_over_all_pairs(by, c.box(), there).energy - sum_over_all_pairs(by, c.box(), back).energy) / (2 * h);
        EXPECT_NEAR(sums.forces[k][a], -slope, 1e-6) << k << ' ' << a << ' ' << by.index();
      }
  }
}

}  // namespace
}  // namespace tessera::testing
