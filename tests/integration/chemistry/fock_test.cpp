// Fock matrices and integrals that are kept, computed again, or both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/scf/kept_integrals.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {
namespace {

using matrix = std::vector<double>;

molecule water_molecule() {
  return {
      .atoms = {{8, {0, 0, -0.1211314446}}, {1, {0, 1.429936714, 0.986043855}}, {1, {0, -1.429936714, 0.986043855}}}};
}

std::unique_ptr<integrals> water_in(const std::string& basis) {
  const molecule m = water_molecule();
  return make_integrals(orbital_basis_for(m, basis), m);
}

matrix symmetric_matrix(std::size_t n, unsigned seed, double scale = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> any(-scale, scale);
  matrix m(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) m[i * n + j] = m[j * n + i] = any(engine);
  return m;
}

struct fock_matrices {
  matrix coulomb;
  std::vector<matrix> exchange;
};

fock_matrices of_builder(fock_builder& builder, std::size_t n, const std::vector<matrix>& densities) {
  fock_matrices made{matrix(n * n, 0.0), std::vector<matrix>(densities.size(), matrix(n * n, 0.0))};
  builder.add(densities, made.coulomb, made.exchange);
  return made;
}

/// Summed over all (ab|cd).
fock_matrices by_definition(const integrals& over, const std::vector<matrix>& densities) {
  const std::size_t n = over.functions();
  matrix v(n * n * n * n);
  const shell_range every{0, over.shells()};
  fill_block(over, schwarz_bounds(over), 0.0, *over.engine(0.0), {every, every, every, every}, v);
  fock_matrices sums{matrix(n * n, 0.0), std::vector<matrix>(densities.size(), matrix(n * n, 0.0))};
  for (std::size_t d = 0, k = 0; d < n; ++d)
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t b = 0; b < n; ++b)
        for (std::size_t a = 0; a < n; ++a, ++k)
          for (std::size_t s = 0; s < densities.size(); ++s) {
            sums.coulomb[a * n + b] += v[k] * densities[s][c * n + d];
            sums.exchange[s][a * n + c] += v[k] * densities[s][b * n + d];
          }
  return sums;
}

void expect_near(const matrix& one, const matrix& other, double within) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t k = 0; k < one.size(); ++k) ASSERT_NEAR(one[k], other[k], within) << "element " << k;
}

void expect_near(const fock_matrices& one, const fock_matrices& other, double within) {
  expect_near(one.coulomb, other.coulomb, within);
  ASSERT_EQ(one.exchange.size(), other.exchange.size());
  for (std::size_t s = 0; s < one.exchange.size(); ++s) expect_near(one.exchange[s], other.exchange[s], within);
}

TEST(chemistry_fock, matrices_are_the_sums_over_integrals_however_many_are_kept) {
  for (const std::string basis : {"cc-pvdz", "6-31g**"}) {
    const auto over = water_in(basis);
    const std::size_t n = over->functions();
    for (const std::size_t spins : {1u, 2u}) {
      std::vector<matrix> densities;
      for (unsigned s = 0; s < spins; ++s) densities.push_back(symmetric_matrix(n, 7 + s));
      const fock_matrices expected = by_definition(*over, densities);
      const auto all = static_cast<std::size_t>(bytes_of_repulsion(*over));
      for (const std::size_t kept : {std::size_t{0}, all / 3, all})
        for (const unsigned threads : {1u, 2u}) {
          fock_builder builder(*over, kept, threads);
          EXPECT_EQ(builder.keeps_all(), kept == all);
          for (int call = 0; call < 2; ++call) expect_near(of_builder(builder, n, densities), expected, 1e-10);
        }
    }
  }
}

TEST(chemistry_fock, small_densities_add_what_they_should) {
  const auto over = water_in("cc-pvdz");
  const std::size_t n = over->functions();
  const std::vector<matrix> change{symmetric_matrix(n, 3, 1e-7)};
  fock_builder builder(*over, 0, 1);
  expect_near(of_builder(builder, n, change), by_definition(*over, change), 1e-11);
}

TEST(chemistry_fock, kept_integrals_are_read_in_any_order_and_computed_when_forgotten) {
  const auto over = water_in("cc-pvdz");
  const std::size_t n = over->functions();
  const auto all = static_cast<std::size_t>(bytes_of_repulsion(*over));
  for (const std::size_t kept_bytes : {all / 2, all}) {
    fock_builder builder(*over, kept_bytes, 2);
    (void)of_builder(builder, n, {symmetric_matrix(n, 1)});
    const kept_integrals kept(*over, builder);
    const auto reading = kept.engine(1e-16), computing = over->engine(1e-16);
    for (int state = 0; state < 2; ++state) {
      for (std::size_t a = 0; a < over->shells(); ++a)
        for (std::size_t b = 0; b < over->shells(); ++b)
          for (std::size_t c = 0; c < over->shells(); ++c)
            for (std::size_t d = 0; d < over->shells(); ++d) {
              const auto read = reading->quartet(a, b, c, d), made = computing->quartet(a, b, c, d);
              const std::size_t count = over->size(a) * over->size(b) * over->size(c) * over->size(d);
              for (std::size_t k = 0; k < count; ++k)
                ASSERT_NEAR(read.empty() ? 0.0 : read[k], made.empty() ? 0.0 : made[k], 1e-13)
                    << a << ' ' << b << ' ' << c << ' ' << d << ", " << k;
            }
      kept.forget_kept();
      EXPECT_FALSE(builder.keeps_all());
    }
  }
}

TEST(chemistry_fock, energies_do_not_depend_on_what_is_kept) {
  const auto over = water_in("cc-pvdz");
  for (const reference kind : {reference::rhf, reference::uhf}) {
    scf_settings how;
    how.kind = kind;
    how.gradient = 1e-9;
    const scf_result kept = run_scf(water_molecule(), *over, how);
    how.kept_bytes = 0;
    const scf_result computed = run_scf(water_molecule(), *over, how), again = run_scf(water_molecule(), *over, how);
    ASSERT_TRUE(kept.converged && computed.converged);
    EXPECT_NEAR(kept.energy, computed.energy, 1e-10);
    EXPECT_EQ(computed.energy, again.energy);
    EXPECT_EQ(computed.fock, again.fock);
  }
}

/// More iterations from changes than are made one after the other.
TEST(chemistry_fock, errors_of_changes_do_not_add_up) {
  const auto over = water_in("cc-pvdz");
  scf_settings how;
  how.damping = 0.9;
  how.guess = scf_guess::core;
  how.gradient = 1e-9;
  const scf_result kept = run_scf(water_molecule(), *over, how);
  how.kept_bytes = 0;
  const scf_result computed = run_scf(water_molecule(), *over, how);
  ASSERT_TRUE(kept.converged && computed.converged);
  EXPECT_GT(computed.iterations, 8);
  EXPECT_NEAR(kept.energy, computed.energy, 1e-10);
}

}  // namespace
}  // namespace tessera::chemistry
