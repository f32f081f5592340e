// Minima and saddle points of fields. Reference values are of PySCF, whose matrices of second derivatives were made
// whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/scf/descent.hpp"
#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

/// A molecule with its field and what builds its Fock matrices.
struct solved {
  solved(const molecule& m, const std::string& basis, reference of)
      : kind(of), over(make_integrals(basis_for(m, basis), m)), builder(*over, std::size_t{1} << 28, 1) {
    how.kind = of;
    how.energy_change = 1e-12;
    how.gradient = 1e-9;
    scf = run_scf(m, *over, how, builder);
    EXPECT_TRUE(scf.converged);
  }
  curvature lowest(orbital_rotations which = orbital_rotations::internal) {
    return lowest_curvature(scf, kind, which, builder, {1e-7, 0, 200});
  }
  scf_result follow(const curvature& along) {
    scf_settings lower = how;
    lower.guess = scf_guess::density;
    lower.start = lower_densities(scf, kind, along, *over, builder);
    return run_scf(over->nuclei(), *over, lower, builder);
  }
  scf_settings how;
  reference kind;
  std::unique_ptr<integrals> over;
  fock_builder builder;
  scf_result scf;
};

molecule two(int number, double distance, int multiplicity = 1) {
  return {.atoms = {{number, {0, 0, 0}}, {number, {0, 0, distance}}}, .multiplicity = multiplicity};
}
molecule water() {
  return {
      .atoms = {{8, {0, 0, -0.1211314446}}, {1, {0, 1.429936714, 0.986043855}}, {1, {0, -1.429936714, 0.986043855}}}};
}
molecule amidogen() {
  return {.atoms = {{7, {0, 0, -0.15}}, {1, {0, 1.51, 1.05}}, {1, {0, -1.51, 1.05}}}, .multiplicity = 2};
}

TEST(chemistry_stability, minima_have_the_eigenvalues_of_an_established_package) {
  solved closed(water(), "cc-pvdz", reference::rhf);
  EXPECT_NEAR(closed.lowest().lowest, 2 * 0.17526176, 1e-6);
  EXPECT_NEAR(closed.lowest(orbital_rotations::triplet).lowest, 0.27624595, 1e-6);
  solved open(amidogen(), "cc-pvdz", reference::uhf);
  EXPECT_NEAR(open.lowest().lowest, 0.0818718, 1e-6);
  EXPECT_FALSE(open.lowest().is_descent());
}

TEST(chemistry_stability, a_stretched_bond_breaks_its_spin_symmetry) {
  solved closed(two(1, 4.0), "cc-pvdz", reference::rhf);
  EXPECT_FALSE(closed.lowest().is_descent());
  EXPECT_NEAR(closed.lowest(orbital_rotations::triplet).lowest, -0.25001341, 1e-6);
  solved open(two(1, 4.0), "cc-pvdz", reference::uhf);
  EXPECT_NEAR(open.scf.spin_squared, 0, 1e-9) << "both spins alike: the saddle point";
  const curvature down = open.lowest();
  EXPECT_NEAR(down.lowest, -0.25001341, 1e-6);
  EXPECT_TRUE(down.is_descent());
  open.scf = open.follow(down);
  EXPECT_TRUE(open.scf.converged);
  EXPECT_NEAR(open.scf.energy, -1.0014146032, 1e-8);
  EXPECT_NEAR(open.scf.spin_squared, 0.931847, 1e-5);
  EXPECT_FALSE(open.lowest().is_descent());
}

TEST(chemistry_stability, closed_shells_may_lie_lower_too) {
  solved nitrogen(two(7, 3.5), "sto-3g", reference::rhf);
  const curvature down = nitrogen.lowest();
  ASSERT_TRUE(down.is_descent());
  const scf_result lower = nitrogen.follow(down);
  EXPECT_TRUE(lower.converged);
  EXPECT_LT(lower.energy, nitrogen.scf.energy - 1e-3);
}

TEST(chemistry_stability, curvatures_are_those_of_the_energy) {
  for (const auto& [kind, times] : {std::pair{reference::rhf, 2.0}, {reference::uhf, 1.0}, {reference::rohf, 1.0}}) {
    solved one(kind == reference::rhf ? water() : two(8, 2.282, 3), "6-31g**", kind);
    const curvature along = one.lowest();
    const auto energy = [&](double angle) { return energy_along(one.scf, kind, along, angle, *one.over, one.builder); };
    const double angle = 0.01;
    EXPECT_NEAR((energy(angle) + energy(-angle) - 2 * energy(0)) / (2 * times * angle * angle), along.lowest, 2e-4)
        << static_cast<int>(kind);
    EXPECT_NEAR(energy(0), one.scf.energy - nuclear_repulsion(one.over->nuclei()), 1e-9);
  }
}

TEST(chemistry_stability, shared_orbitals_go_down_and_stay_there) {
  solved oxygen(two(8, 2.282, 3), "6-31g**", reference::rohf);
  const curvature down = oxygen.lowest();
  ASSERT_TRUE(down.is_descent()) << "ROHF of O2 is a saddle point of lower symmetry";
  const scf_result lower = oxygen.follow(down);
  EXPECT_TRUE(lower.converged);
  EXPECT_LT(lower.energy, oxygen.scf.energy - 1e-5);
}

TEST(chemistry_stability, where_nothing_can_turn_there_is_a_minimum) {
  solved atom({.atoms = {{1, {0, 0, 0}}}, .multiplicity = 2}, "sto-3g", reference::uhf);
  const curvature none = atom.lowest();
  EXPECT_FALSE(none.is_descent());
  EXPECT_TRUE(none.direction[0].empty());
  EXPECT_EQ(none.fock_matrices, 0);
}

TEST(chemistry_stability, lowest_eigenpairs_are_those_of_whole_matrices) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> some(-0.1, 0.1);
  for (const std::size_t n : {1u, 2u, 5u, 60u}) {
    std::vector<double> a(n * n), diagonal(n);
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = 0; q <= p; ++q)
        a[p + n * q] = a[q + n * p] = some(random) + (p == q ? 0.05 * static_cast<double>(p) : 0);
    for (std::size_t p = 0; p < n; ++p) diagonal[p] = a[p * (n + 1)];
    const eigenpair found = lowest_eigenpair(
        diagonal, [&](const std::vector<double>& x) { return product(n, 1, n, a, x); }, {1e-9, 0, 200});
    EXPECT_TRUE(found.converged) << n;
    std::vector<double> whole = a;
    EXPECT_NEAR(found.value, eigenvalues(n, whole)[0], 1e-9) << n;
  }
  // A symmetry that separates the lowest vector from the smallest element of the diagonal.
  const std::vector<double> blocks{0.1, 0, 0, 0, 0, 0.5, 0.9, 0, 0, 0.9, 0.5, 0, 0, 0, 0, 0.2};
  const eigenpair found = lowest_eigenpair(
      {0.1, 0.5, 0.5, 0.2}, [&](const std::vector<double>& x) { return product(4, 1, 4, blocks, x); }, {1e-9, 0, 50});
  EXPECT_NEAR(found.value, -0.4, 1e-9);
}

}  // namespace
}  // namespace tessera::chemistry
