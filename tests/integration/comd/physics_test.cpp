// Molecular dynamics under all policies and trees: known energies, conservation, and the same bits everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "apps/comd/reference.hpp"
#include "apps/comd/simulation.hpp"
#include "apps/comd/units.hpp"
#include "core/base/error.hpp"
#include "tests/integration/rodinia/settings.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera::testing {
namespace {

using namespace apps::comd;

constexpr double mass = copper_mass * atomic_mass_unit;

/// Atoms of one potential.
template <class T>
struct dynamics {
  dynamics(location_model& model, const region_options& how, const potential& by,
           const std::array<std::int64_t, 3>& size, double lattice_constant, double kelvin,
           data_choice data = data_choice::shared)
      : start(make_crystal(size, lattice_constant)) {
    set_temperature(start, mass, kelvin);
    const cell_grid grid = make_cell_grid(start, cutoff_of(by));
    std::unique_ptr<interaction<T>> forces;
    if (const auto* const lj = std::get_if<lennard_jones>(&by))
      forces = std::make_unique<lennard_jones_regions<T>>(model, how, grid, *lj);
    else
      forces = std::make_unique<embedded_atom_regions<T>>(model, how, grid, std::get<embedded_atom>(by));
    atoms = std::make_unique<simulation<T>>(model, how, grid, start, mass, std::move(forces), data);
    atoms->compute_forces();
  }
  void run(int steps) {
    for (int k = 0; k < steps; ++k) atoms->step(1);
  }
  double count() const { return static_cast<double>(start.atoms()); }
  std::vector<vector3> vectors(const T* of) const {
    return by_number(atoms->grid(), *atoms->data().atoms, of, start.atoms());
  }
  std::vector<vector3> positions() const { return vectors(atoms->data().atoms->positions); }
  std::vector<vector3> forces() const { return vectors(atoms->data().forces->forces); }

  crystal start;
  std::unique_ptr<simulation<T>> atoms;
};

class comd : public rodinia {
 protected:
  dynamics<double> lennard_jones_copper(std::int64_t cells, double kelvin = 600,
                                        data_choice data = data_choice::shared) {
    return {model, how, lennard_jones(), {cells, cells, cells}, 3.615, kelvin, data};
  }
  /// Whether all forces were computed by functions, whose bits do not depend on the split. Texts add in another order.
  static bool only_functions() { return *GetParam().gpus == '\0'; }
  dynamics<double> embedded_copper(const std::array<std::int64_t, 3>& size) {
    return {model, how, sutton_chen_copper(), size, 3.61, 600};
  }
};

/// All settings; under a sanitizer one of each kind, since a step takes a second there.
std::vector<rodinia_setting> settings_of_comd() {
  std::vector<rodinia_setting> some;
  for (const rodinia_setting& s : rodinia_settings)
    if (!is_slow || std::ranges::count(std::array<std::string, 6>{"static_two", "auto_two", "cuda_emulated", "sim",
                                                                  "small_device", "opencl"},
                                       s.name) > 0)
      some.push_back(s);
  return some;
}
INSTANTIATE_TEST_SUITE_P(all, comd, ::testing::ValuesIn(settings_of_comd()), name_of_rodinia);

double largest(const std::vector<vector3>& of) {
  double found = 0;
  for (const vector3& v : of)
    for (const double x : v) found = std::max(found, std::abs(x));
  return found;
}

TEST_P(comd, starts_from_the_lattice) {
  dynamics<double> of = lennard_jones_copper(10);
  const totals seen = of.atoms->measure();
  EXPECT_NEAR(seen.potential / of.count(), -1.243619295078, 1e-10);
  EXPECT_NEAR(seen.kinetic / of.count(), 0.077555991600, 1e-12);
  EXPECT_NEAR(seen.energy() / of.count(), -1.166063303478, 1e-10);
  EXPECT_EQ(seen.atoms, 4000);
  EXPECT_LE(largest(of.forces()), 1e-12);
}

TEST_P(comd, has_the_known_energies_of_4000_atoms) {
  dynamics<double> of = lennard_jones_copper(10);
  const double first = of.atoms->measure().energy();
  of.run(10);
  const totals tenth = of.atoms->measure();
  EXPECT_NEAR(tenth.energy() / of.count(), -1.166059664379, 1e-9);
  EXPECT_NEAR(tenth.potential / of.count(), -1.233186130247, 1e-9);
  of.run(90);
  const totals last = of.atoms->measure();
  EXPECT_NEAR(last.energy() / of.count(), -1.166049902620, 1e-9);
  EXPECT_NEAR(last.potential / of.count(), -1.206644363408, 1e-9);
  EXPECT_LE(std::abs(last.energy() / first - 1), 2e-5);
  EXPECT_EQ(last.atoms, 4000);
  for (const double p : last.momentum) EXPECT_LE(std::abs(p) / of.count(), 1e-10);
}

TEST_P(comd, has_the_known_energies_of_32000_atoms) {
  dynamics<double> of = lennard_jones_copper(20);
  of.run(10);
  const totals seen = of.atoms->measure();
  EXPECT_NEAR(seen.energy() / of.count(), -1.166059622057, 1e-9);
  EXPECT_NEAR(seen.potential / of.count(), -1.233147893486, 1e-9);
}

TEST_P(comd, has_the_same_bits_everywhere_and_agrees_with_all_pairs) {
  dynamics<double> of = lennard_jones_copper(10);
  of.run(20);
  const std::vector<vector3> positions = of.positions(), forces = of.forces();
  if (only_functions()) {
    expect_same<vector3>("lennard-jones positions", positions);
    expect_same<vector3>("lennard-jones forces", forces);
  }
  EXPECT_TRUE(devices_took_part("forces"));
  const all_pairs expected = sum_over_all_pairs(lennard_jones(), of.start.box(), positions);
  expect_close(of.atoms->measure().potential, expected.energy, 1e-10, "energy");
  for (std::size_t k = 0; k < forces.size(); ++k)
    for (std::size_t a = 0; a < 3; ++a) ASSERT_NEAR(forces[k][a], expected.forces[k][a], 1e-10);
}

TEST_P(comd, embeds_atoms) {
  for (const std::array<std::int64_t, 3>& size : {std::array<std::int64_t, 3>{4, 4, 4}, {6, 5, 4}}) {  // 2 cells and 3
    dynamics<double> of = embedded_copper(size);
    const totals first = of.atoms->measure();
    expect_close(first.potential / of.count(), lattice_energy(sutton_chen_copper(), 3.61), 1e-10, "lattice");
    EXPECT_LE(largest(of.forces()), 1e-11);
    of.run(50);
    const totals last = of.atoms->measure();
    const std::vector<vector3> positions = of.positions(), forces = of.forces();
    if (only_functions()) {
      expect_same<vector3>("embedded positions " + std::to_string(size[0]), positions);
      expect_same<vector3>("embedded forces " + std::to_string(size[0]), forces);
    }
    for (const char* region : {"densities", "embedding", "forces"}) EXPECT_TRUE(devices_took_part(region)) << region;
    EXPECT_GT(largest(forces), 0.1);
    EXPECT_LE(std::abs(last.energy() / first.energy() - 1), 2e-5);
    for (const double p : last.momentum) EXPECT_LE(std::abs(p) / of.count(), 1e-10);
    const all_pairs expected = sum_over_all_pairs(sutton_chen_copper(), of.start.box(), positions);
    expect_close(last.potential, expected.energy, 1e-10, "energy");
    for (std::size_t k = 0; k < forces.size(); ++k)
      for (std::size_t a = 0; a < 3; ++a) ASSERT_NEAR(forces[k][a], expected.forces[k][a], 1e-10);
  }
}

TEST_P(comd, keeps_atoms_sorted_in_the_cells_where_they_are) {
  dynamics<double> of = lennard_jones_copper(5, 8000);  // it melts
  const std::vector<vector3> before = of.positions();
  of.run(60);
  const cell_grid& grid = of.atoms->grid();
  const atom_data<double>& now_there = *of.atoms->data().atoms;
  std::vector<int> seen(static_cast<std::size_t>(of.start.atoms()));
  int moved = 0;
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell)
    for (std::int32_t k = 0; k < now_there.counts[cell]; ++k) {
      const std::int64_t slot = cell * grid.capacity + k;
      const auto id = static_cast<std::size_t>(now_there.ids[slot]);
      ++seen[id];
      if (k > 0) {
        EXPECT_LT(now_there.ids[slot - 1], now_there.ids[slot]);
      }
      std::array<std::int32_t, 3> now{}, then{};
      for (std::size_t a = 0; a < 3; ++a) {
        now[a] = grid.along(a, now_there.positions[(3 * cell + static_cast<std::int64_t>(a)) * grid.capacity + k]);
        then[a] = grid.along(a, before[id][a]);
      }
      EXPECT_EQ(grid.cell(now), cell);
      moved += now != then ? 1 : 0;
    }
  for (const int times : seen) EXPECT_EQ(times, 1);
  EXPECT_GT(moved, 20);
}

TEST_P(comd, in_single_precision) {
  dynamics<float> of(model, how, lennard_jones(), {10, 10, 10}, 3.615, 600);
  expect_close(of.atoms->measure().potential / of.count(), -1.243619295078, 2e-5, "start");
  of.run(10);
  const totals seen = of.atoms->measure();
  expect_close(seen.energy() / of.count(), -1.166059664379, 2e-5, "total");
  expect_close(seen.potential / of.count(), -1.233186130247, 2e-5, "potential");
  EXPECT_EQ(seen.atoms, 4000);
  if (only_functions()) expect_same<vector3>("single positions", of.positions());
}

TEST_P(comd, has_the_same_energies_however_its_data_is_moved) {
  std::vector<totals> first;
  for (const data_choice way : {data_choice::shared, data_choice::chain, data_choice::deepcopy}) {
    dynamics<double> of = lennard_jones_copper(6, 600, way);
    std::vector<totals> seen{of.atoms->measure()};
    for (const int steps : {1, 2, 5}) {  // stretches that end with the arrays of atoms as they began, and swapped
      of.run(steps);
      seen.push_back(of.atoms->measure());
    }
    const std::vector<vector3> positions = of.positions(), forces = of.forces();
    EXPECT_EQ(of.atoms->traffic().copies, way == data_choice::deepcopy ? 4u : 0u);
    const all_pairs expected = sum_over_all_pairs(lennard_jones(), of.start.box(), positions);
    expect_close(seen.back().potential, expected.energy, 1e-10, "energy");
    for (std::size_t k = 0; k < forces.size(); ++k)
      for (std::size_t a = 0; a < 3; ++a) ASSERT_NEAR(forces[k][a], expected.forces[k][a], 1e-10);
    if (first.empty()) first = seen;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      // Under `auto` a device's share depends on the clock, and its sums have another order.
      const double bound = GetParam().policy == std::string("auto") && !only_functions() ? 1e-11 : 0;
      EXPECT_NEAR(seen[k].potential, first[k].potential, bound * std::abs(first[k].potential)) << k;
      EXPECT_NEAR(seen[k].kinetic, first[k].kinetic, bound * first[k].kinetic) << k;
      EXPECT_EQ(seen[k].atoms, 864);
    }
    if (only_functions()) {
      const std::vector<double> last{seen.back().potential, seen.back().kinetic, seen.back().momentum[0]};
      expect_same<double>("energies of 864 atoms", last);
    }
  }
}

TEST_P(comd, waits_for_loops_whose_results_nobody_gets) {
  for (const data_choice way : {data_choice::shared, data_choice::chain, data_choice::deepcopy}) {
    lennard_jones_copper(5, 600, way).run(3);  // a stretch that does not end
    dynamics<double> fails = lennard_jones_copper(5, 600, way);
    fails.atoms->step(1e5);
  }
  EXPECT_NO_THROW(model.fence());
}

TEST_P(comd, refuses_steps_that_are_too_long) {
  dynamics<double> of = lennard_jones_copper(6);
  of.atoms->step(5000);
  try {
    of.atoms->measure();
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("farther than a cell"), std::string::npos) << e.what();
  }
}

TEST(comd_place, refuses_a_crowd_in_one_cell) {
  runtime rt(host_only());
  location_model model(rt);
  crystal c = make_crystal({6, 6, 6}, 3.615);
  const cell_grid grid = make_cell_grid(c, 5.7875);
  for (vector3& p : c.positions) p = {1, 1, 1};
  EXPECT_THROW(simulation<double>(model, {}, grid, c, mass, nullptr), error);
}

TEST(comd_data, has_three_ways) {
  EXPECT_EQ(data_choice_of("chain"), data_choice::chain);
  EXPECT_THROW((void)data_choice_of("chains"), error);
}

TEST(comd_data, a_copy_is_at_the_memory_of_the_location) {
  runtime rt(machine_of("plugins = [\"host\"]\n" + two_hosts, 4));
  EXPECT_EQ(host_memory_at(rt, ""), "numa0");
  EXPECT_EQ(host_memory_at(rt, "numa1"), "numa1");
  runtime with_device(with_sims(1, "256 MiB", false, 2, ""));
  EXPECT_EQ(host_memory_at(with_device, "sim0"), host_memory_at(with_device, ""));
}

TEST(comd_totals, name_what_is_not_finite) {
  const double nan = std::nan("");
  EXPECT_NO_THROW(refuse_infinite({1, 2, {3, 4, 5}, 6}, 7));
  for (const auto& [all, what] :
       {std::pair{totals{nan, 2, {}, 6}, "potential energy of all atoms is not a number at step 7"},
        {totals{1, nan, {}, 6}, "kinetic energy"},
        {totals{1, 2, {0, nan, 0}, 6}, "momentum"}}) {
    try {
      refuse_infinite(all, 7);
      ADD_FAILURE();
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::numerical);
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace tessera::testing
