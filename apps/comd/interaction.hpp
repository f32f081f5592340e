#pragma once
// Forces as regions over cells: each writes the atoms of its own cells alone, and reads those of all cells.
#include <memory>

#include "apps/comd/atom_arrays.hpp"
#include "apps/comd/embedded_atom.hpp"
#include "apps/comd/lennard_jones.hpp"

namespace tessera::apps::comd {

/// Where forces and energies go.
template <class T>
struct force_arrays {
  region_array<T> forces;           ///< (cell, axis, slot)
  region_array<T> energies;         ///< (cell, slot): potential energy of the atom
  region_result<double> potential;  ///< their sum
};

/// A potential as regions.
/// @tparam T  double or float
template <class T>
class interaction {
 public:
  virtual ~interaction() = default;
  /// Submits the regions that compute the forces on all atoms.
  virtual void submit(const atom_arrays<T>& atoms, const force_arrays<T>& to) = 0;
};

/// The neighbourhood that a thread uses for one cell after the other.
template <class T>
neighbourhood<T>& neighbourhood_of_this_thread() {
  thread_local neighbourhood<T> mine;
  return mine;
}

/// One region.
template <class T>
class lennard_jones_regions final : public interaction<T> {
 public:
  lennard_jones_regions(location_model& model, const region_options& how, const cell_grid& grid,
                        const lennard_jones& by)
      : m_model(model), m_how(how), m_grid(grid), m_potential(by) {}

  void submit(const atom_arrays<T>& atoms, const force_arrays<T>& to) override {
    m_model.region("forces", m_how, iterate(0, m_grid.cells()), in(atoms.counts, whole), in(atoms.positions, whole),
                   out(to.forces), out(to.energies), sum(to.potential),
                   [grid = m_grid, by = m_potential](auto cell, auto counts, auto positions, auto forces, auto energies,
                                                     double& total) {
                     neighbourhood<T>& near = neighbourhood_of_this_thread<T>();
                     near.collect(grid, cell, cells_of<T>(counts, positions), static_cast<T>(by.cutoff));
                     total += act(by, near, atoms_of<T>(cell, grid, counts, positions), &forces(cell), &energies(cell));
                     clear_free_slots(&forces(cell), counts[cell], grid.capacity, 3);
                     clear_free_slots(&energies(cell), counts[cell], grid.capacity);
                   });
  }

 private:
  location_model& m_model;
  region_options m_how;
  cell_grid m_grid;
  lennard_jones m_potential;
};

/// Three regions: densities, embedding, forces.
template <class T>
class embedded_atom_regions final : public interaction<T> {
 public:
  embedded_atom_regions(location_model& model, const region_options& how, const cell_grid& grid,
                        const embedded_atom& by)
      : m_model(model),
        m_how(how),
        m_grid(grid),
        m_cutoff(static_cast<T>(by.cutoff)),
        m_density(model, "density table", how.at, by.density),
        m_pair(model, "pair table", how.at, by.pair),
        m_embedding(model, "embedding table", how.at, by.embedding),
        m_densities(model.make_array<T>("densities", {grid.cells(), grid.capacity}, {.at = how.at})),
        m_slopes(model.make_array<T>("slopes", {grid.cells(), grid.capacity}, {.at = how.at})) {}

  void submit(const atom_arrays<T>& atoms, const force_arrays<T>& to) override {
    const iteration_space<1> cells = iterate(0, m_grid.cells());
    m_model.region("densities", m_how, cells, in(atoms.counts, whole), in(atoms.positions, whole),
                   in(m_density.coefficients, whole), out(m_densities),
                   [grid = m_grid, cutoff = m_cutoff, density = m_density.shape](auto cell, auto counts, auto positions,
                                                                                 auto table, auto densities) {
                     neighbourhood<T>& near = neighbourhood_of_this_thread<T>();
                     near.collect(grid, cell, cells_of<T>(counts, positions), cutoff);
                     gather_density<T>({cutoff, over(density, table), {}, {}}, near,
                                       atoms_of<T>(cell, grid, counts, positions), &densities(cell));
                     clear_free_slots(&densities(cell), counts[cell], grid.capacity);
                   });
    m_model.region(
        "embedding", m_how, cells, in(atoms.counts), in(m_densities), in(m_embedding.coefficients, whole),
        out(m_slopes), out(to.energies),
        [capacity = m_grid.capacity, embedding = m_embedding.shape](auto cell, auto counts, auto densities, auto table,
                                                                    auto slopes, auto energies) {
          embed<T>({0, {}, {}, over(embedding, table)}, counts[cell], &densities(cell), &energies(cell), &slopes(cell));
          clear_free_slots(&energies(cell), counts[cell], capacity);
          clear_free_slots(&slopes(cell), counts[cell], capacity);
        });
    m_model.region("forces", m_how, cells, in(atoms.counts, whole), in(atoms.positions, whole), in(m_slopes, whole),
                   in(m_density.coefficients, whole), in(m_pair.coefficients, whole), out(to.forces),
                   inout(to.energies), sum(to.potential),
                   [grid = m_grid, cutoff = m_cutoff, density = m_density.shape, pair = m_pair.shape](
                       auto cell, auto counts, auto positions, auto slopes, auto density_table, auto pair_table,
                       auto forces, auto energies, double& total) {
                     neighbourhood<T>& near = neighbourhood_of_this_thread<T>();
                     all_cells<T> all = cells_of<T>(counts, positions);
                     all.attached = &slopes[0];
                     near.collect(grid, cell, all, cutoff);
                     total += act<T>({cutoff, over(density, density_table), over(pair, pair_table), {}}, near,
                                     atoms_of<T>(cell, grid, counts, positions), &slopes(cell), &forces(cell),
                                     &energies(cell));
                     clear_free_slots(&forces(cell), counts[cell], grid.capacity, 3);
                   });
  }

 private:
  /// A table as an array: four coefficients per interval.
  struct table_array {
    table_array(location_model& model, const char* name, std::string_view at, const samples& of)
        : coefficients(model.make_array<T>(name, {static_cast<std::int64_t>(of.values.size()) - 1, 4}, {.at = at})),
          shape(table_over<T>(nullptr, coefficients.extents().rows, of.step)) {
      std::ranges::transform(cubic_coefficients(of), coefficients.write_host().begin(),
                             [](double c) { return static_cast<T>(c); });
    }
    region_array<T> coefficients;
    cubic_table<T> shape;  ///< without memory
  };
  static cubic_table<T> over(cubic_table<T> shape, const region_view<const T>& coefficients) {
    shape.coefficients = &coefficients[0];
    return shape;
  }

  location_model& m_model;
  region_options m_how;
  cell_grid m_grid;
  T m_cutoff;
  table_array m_density, m_pair, m_embedding;
  region_array<T> m_densities, m_slopes;
};

}  // namespace tessera::apps::comd
