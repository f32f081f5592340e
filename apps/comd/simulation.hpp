#pragma once
// Molecular dynamics by the velocity form of Verlet's method: half a kick, a drift, atoms to their cells, forces, half
// a kick.
#include <memory>
#include <utility>

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

/// Atoms in motion. Functions submit regions and do not wait, where they do not say so.
/// @tparam T  double or float: of positions, momenta, forces. Sums of energies are double
template <class T>
class simulation {
 public:
  /// Puts the atoms into their cells. Waits. @param mass  of an atom, in eV fs^2 / A^2
  simulation(location_model& model, const region_options& how, const cell_grid& grid, const crystal& start, double mass,
             std::unique_ptr<interaction<T>> forces)
      : m_model(model),
        m_how(how),
        m_grid(grid),
        m_cells(iterate(0, grid.cells())),
        m_mass(mass),
        m_atoms(model, grid, how.at, ""),
        m_sorted(model, grid, how.at, " sorted"),
        m_forces{model.make_array<T>("forces", {grid.cells(), 3, grid.capacity}, {.at = how.at}),
                 model.make_array<T>("energies", {grid.cells(), grid.capacity}, {.at = how.at}),
                 region_result<double>(model.owner(), "potential energy")},
        m_drifted(model, grid, how.at),
        m_kinetic(model.owner(), "kinetic energy"),
        m_momentum{region_result<double>(model.owner(), "momentum x"),
                   region_result<double>(model.owner(), "momentum y"),
                   region_result<double>(model.owner(), "momentum z")},
        m_count(model.owner(), "atoms"),
        m_interaction(std::move(forces)) {
    place(m_model, m_how, m_grid, start, m_atoms);
  }

  /// The forces where the atoms are. Once before the first step.
  void compute_forces() { m_interaction->submit(m_atoms, m_forces); }
  /// @param dt  the time step, in fs
  void step(double dt) {
    kick(dt / 2);
    drift(dt);
    sort_into_cells(m_model, m_how, m_grid, m_atoms, m_drifted, m_sorted);
    std::swap(m_atoms, m_sorted);
    compute_forces();
    kick(dt / 2);
  }
  /// Waits for what was submitted. Throws the failure of a region: tessera::error (numerical) where an atom moved
  /// farther than a cell in one step, or too many came into one.
  totals measure() {
    m_model.region("kinetic energy", m_how, m_cells, in(m_atoms.counts), in(m_atoms.momenta), sum(m_kinetic),
                   sum(m_momentum[0]), sum(m_momentum[1]), sum(m_momentum[2]), sum(m_count),
                   [half = 0.5 / m_mass](auto cell, auto counts, auto momenta, double& kinetic, double& x, double& y,
                                         double& z, std::int64_t& atoms) {
                     double squares = 0, sums[3] = {};
                     for (std::int64_t a = 0; a < 3; ++a)
                       for (std::int64_t k = 0; k < counts[cell]; ++k) {
                         const auto p = static_cast<double>(momenta(cell, a, k));
                         squares += p * p, sums[a] += p;
                       }
                     kinetic += half * squares, x += sums[0], y += sums[1], z += sums[2], atoms += counts[cell];
                   });
    return {m_forces.potential.get(),
            m_kinetic.get(),
            {m_momentum[0].get(), m_momentum[1].get(), m_momentum[2].get()},
            m_count.get()};
  }

  const cell_grid& grid() const noexcept { return m_grid; }
  const atom_arrays<T>& atoms() const noexcept { return m_atoms; }
  const force_arrays<T>& forces() const noexcept { return m_forces; }

 private:
  void kick(double dt) {
    m_model.region("kick", m_how, m_cells, in(m_atoms.counts), in(m_forces.forces), inout(m_atoms.momenta),
                   [dt = static_cast<T>(dt)](auto cell, auto counts, auto forces, auto momenta) {
                     for (std::int64_t a = 0; a < 3; ++a) {
                       const T* const f = &forces(cell, a);
                       T* const p = &momenta(cell, a);
                       for (std::int64_t k = 0; k < counts[cell]; ++k) p[k] += dt * f[k];
                     }
                   });
  }
  void drift(double dt) {
    m_model.region("drift", m_how, m_cells, in(m_atoms.counts), in(m_atoms.momenta), inout(m_atoms.positions),
                   out(m_drifted.targets), out(m_drifted.leaving),
                   [grid = m_grid, factor = static_cast<T>(dt / m_mass)](auto cell, auto counts, auto momenta,
                                                                         auto positions, auto targets, auto leaving) {
                     leaving[cell] =
                         move_atoms(grid, cell, counts[cell], factor, &momenta(cell), &positions(cell), &targets(cell));
                   });
  }

  location_model& m_model;
  region_options m_how;
  cell_grid m_grid;
  iteration_space<1> m_cells;
  double m_mass;
  atom_arrays<T> m_atoms, m_sorted;
  force_arrays<T> m_forces;
  drift_arrays m_drifted;
  region_result<double> m_kinetic;
  std::array<region_result<double>, 3> m_momentum;
  region_result<std::int64_t> m_count;
  std::unique_ptr<interaction<T>> m_interaction;
};

}  // namespace tessera::apps::comd
