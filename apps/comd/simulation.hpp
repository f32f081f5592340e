#pragma once
// Molecular dynamics by the velocity form of Verlet's method: half a kick, a drift, atoms to their cells, forces, half
// a kick.
#include <memory>
#include <utility>

#include "apps/comd/data_mode.hpp"
#include "apps/comd/interaction.hpp"
#include "apps/comd/sorting.hpp"

namespace tessera::apps::comd {

/// Of all atoms together.
struct totals {
  double potential = 0, kinetic = 0;  ///< energies
  vector3 momentum{};
  std::int64_t atoms = 0;
  double energy() const { return potential + kinetic; }
};
/// Throws tessera::error (numerical) where one of the numbers is not finite, with its name and the step.
void refuse_infinite(const totals& all, std::int64_t step);

/// Atoms in motion. Functions submit regions and do not wait, where they do not say so.
/// @tparam T  double or float: of positions, momenta, forces. Sums of energies are double
template <class T>
class simulation {
 public:
  /// Puts the atoms into their cells. Waits. @param mass  of an atom, in eV fs^2 / A^2
  /// @param data  how loops get at them
  simulation(location_model& model, const region_options& how, const cell_grid& grid, const crystal& start, double mass,
             std::unique_ptr<interaction<T>> forces, data_choice data = data_choice::shared)
      : m_model(model),
        m_how(how),
        m_grid(grid),
        m_cells(iterate(0, grid.cells())),
        m_mass(mass),
        m_memory(grid),
        m_drifted(model, grid, how.at),
        m_sums(model.make_array<double>("sums", {grid.cells(), 6}, {.at = how.at})),
        m_interaction(std::move(forces)),
        m_data(make_data_mode<T>(data, {model, how, grid, m_memory.root()})) {
    shared_data<T> at_start({model, how, grid, m_memory.root()});
    std::unique_ptr<loop_arrays<T>> arrays;
    at_start.begin(arrays);
    place(m_model, m_how, m_grid, start, arrays->atoms);
    arrays.reset();
  }
  /// Waits for loops whose results nobody has asked for.
  ~simulation() { m_arrays.reset(), m_data.reset(); }

  /// The forces where the atoms are. Once before the first step.
  void compute_forces() {
    const loop_arrays<T>& of = arrays();
    m_interaction->submit(of.atoms, of.forces);
  }
  /// @param dt  the time step, in fs
  void step(double dt) {
    ++m_steps;
    kick(dt / 2);
    drift(dt);
    loop_arrays<T>& of = arrays();
    sort_into_cells(m_model, m_how, m_grid, of.atoms, m_drifted, of.sorted);
    std::swap(of.atoms, of.sorted);
    m_swapped = !m_swapped;
    compute_forces();
    kick(dt / 2);
  }
  /// Waits for what was submitted. Throws the failure of a region: tessera::error (numerical) where an atom moved
  /// farther than a cell in one step, or too many came into one, or where a sum is not finite. There is no going on
  /// then.
  totals measure() {
    const loop_arrays<T>& of = arrays();
    m_model.region("totals", m_how, m_cells, read(of.atoms.counts), read(of.atoms.momenta), read(of.forces.energies),
                   write(m_sums),
                   [half = 0.5 / m_mass](auto cell, auto counts, auto momenta, auto energies, auto sums) {
                     double squares = 0, energy = 0;
                     for (std::int64_t k = 0; k < counts[cell]; ++k) energy += static_cast<double>(energies(cell, k));
                     for (std::int64_t a = 0; a < 3; ++a) {
                       double sum = 0;
                       for (std::int64_t k = 0; k < counts[cell]; ++k) {
                         const auto p = static_cast<double>(momenta(cell, a, k));
                         squares += p * p, sum += p;
                       }
                       sums(cell, 2 + a) = sum;
                     }
                     sums(cell, 0) = energy, sums(cell, 1) = half * squares;
                     sums(cell, 5) = static_cast<double>(counts[cell]);
                   });
    const totals all = sum_over_cells();
    end_stretch();
    refuse_infinite(all, m_steps);
    return all;
  }
  /// The atoms as the program has them. Waits for what was submitted.
  const simulation_data<T>& data() {
    if (m_running) end_stretch();
    m_model.owner().fence();
    return m_memory.root();
  }
  data_traffic traffic() const { return m_data->traffic(); }
  const cell_grid& grid() const noexcept { return m_grid; }

 private:
  /// Those of this stretch, which begins where there is none.
  loop_arrays<T>& arrays() {
    if (!m_running) m_data->begin(m_arrays);
    m_running = true;
    return *m_arrays;
  }
  void end_stretch() {
    m_data->end(m_arrays);
    m_running = false;
    if (m_swapped) std::swap(m_memory.root().atoms, m_memory.root().sorted);
    m_swapped = false;
  }
  /// In the order of the cells: the same bits however they were split.
  totals sum_over_cells() const {
    const auto rows = m_sums.read();
    totals all;
    for (std::int64_t cell = 0; cell < m_grid.cells(); ++cell) {
      all.potential += rows(cell, 0), all.kinetic += rows(cell, 1);
      for (std::int64_t a = 0; a < 3; ++a) all.momentum[static_cast<std::size_t>(a)] += rows(cell, 2 + a);
      all.atoms += static_cast<std::int64_t>(rows(cell, 5));
    }
    return all;
  }
  void kick(double dt) {
    const loop_arrays<T>& of = arrays();
    m_model.region("kick", m_how, m_cells, read(of.atoms.counts), read(of.forces.forces), update(of.atoms.momenta),
                   [dt = static_cast<T>(dt)](auto cell, auto counts, auto forces, auto momenta) {
                     for (std::int64_t a = 0; a < 3; ++a) {
                       const T* const f = &forces(cell, a, 0);
                       T* const p = &momenta(cell, a, 0);
                       for (std::int64_t k = 0; k < counts[cell]; ++k) p[k] += dt * f[k];
                     }
                   });
  }
  void drift(double dt) {
    const loop_arrays<T>& of = arrays();
    m_model.region("drift", m_how, m_cells, read(of.atoms.counts), read(of.atoms.momenta), update(of.atoms.positions),
                   write(m_drifted.targets), write(m_drifted.leaving),
                   [grid = m_grid, factor = static_cast<T>(dt / m_mass), step = m_steps](
                       auto cell, auto counts, auto momenta, auto positions, auto targets, auto leaving) {
                     leaving[cell] = move_atoms(grid, cell, counts[cell], factor, &momenta(cell, 0, 0),
                                                &positions(cell, 0, 0), &targets(cell, 0), step);
                   });
  }

  location_model& m_model;
  region_options m_how;
  cell_grid m_grid;
  iteration_space<1> m_cells;
  double m_mass;
  nested_memory<T> m_memory;
  drift_arrays m_drifted;
  array<double, 2> m_sums;  // (cell, potential energy, kinetic energy, momentum, atoms)
  std::unique_ptr<interaction<T>> m_interaction;
  std::unique_ptr<data_mode<T>> m_data;
  std::unique_ptr<loop_arrays<T>> m_arrays;
  bool m_running = false;  // a stretch of steps
  bool m_swapped = false;  // the arrays of atoms, in this stretch
  std::int64_t m_steps = 0;
};

}  // namespace tessera::apps::comd
