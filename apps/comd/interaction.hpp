#pragma once
// Forces as regions over cells: each writes the atoms of its own cells alone, and reads those of all cells.
#include <memory>

#include "apps/comd/atom_arrays.hpp"
#include "apps/comd/embedded_atom.hpp"
#include "apps/comd/kernel_texts.hpp"
#include "apps/comd/lennard_jones.hpp"

namespace tessera::apps::comd {

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

/// The edges of the box, as numbers of the loops. @tparam T  double or float
template <class T>
std::array<T, 3> edges_of(const cell_grid& grid) {
  return {static_cast<T>(grid.box[0]), static_cast<T>(grid.box[1]), static_cast<T>(grid.box[2])};
}

/// By how much a force or an energy may differ between a function and a text, in the lattice where forces cancel.
/// @tparam T  double or float
template <class T>
inline constexpr double rounding_of_forces = sizeof(T) == 4 ? 1e-3 : 1e-11;

/// One region.
template <class T>
class lennard_jones_regions final : public interaction<T> {
 public:
  lennard_jones_regions(location_model& model, const region_options& how, const cell_grid& grid,
                        const lennard_jones& by)
      : m_model(model), m_how(how), m_grid(grid), m_potential(by) {}

  void submit(const atom_arrays<T>& atoms, const force_arrays<T>& to) override {
    const auto number = [](double v) { return static_cast<T>(v); };
    const auto [nx, ny, nz] = m_grid.count;
    const auto [bx, by, bz] = edges_of<T>(m_grid);
    m_model.region(
        "forces", m_how, iterate(0, m_grid.cells()), read(atoms.counts, whole), read(atoms.positions, whole),
        write(to.forces), write(to.energies),
        with_kernel(
            [grid = m_grid, lj = m_potential](auto cell, auto counts, auto positions, auto forces, auto energies) {
              neighbourhood<T>& near = neighbourhood_of_this_thread<T>();
              near.collect(grid, cell, cells_of<T>(counts, positions), static_cast<T>(lj.cutoff));
              act(lj, near, atoms_of<T>(cell, grid, counts, positions), &forces(cell, 0, 0), &energies(cell, 0));
              clear_free_slots(&forces(cell, 0, 0), counts[cell], grid.capacity, 3);
              clear_free_slots(&energies(cell, 0), counts[cell], grid.capacity);
            },
            inner(m_grid.capacity), lennard_jones_text(), nx, ny, nz, bx, by, bz,
            number(m_potential.cutoff * m_potential.cutoff), number(m_potential.sigma * m_potential.sigma),
            number(m_potential.shift()), number(24 * m_potential.epsilon), number(2 * m_potential.epsilon))
            .within(rounding_of_forces<T>));
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
    gather(atoms);
    embed_atoms(atoms, to);
    compute_forces(atoms, to);
  }

 private:
  void gather(const atom_arrays<T>& atoms) {
    const auto [nx, ny, nz] = m_grid.count;
    const auto [bx, by, bz] = edges_of<T>(m_grid);
    m_model.region("densities", m_how, cells(), read(atoms.counts, whole), read(atoms.positions, whole),
                   read(m_density.coefficients, whole), write(m_densities),
                   with_kernel(
                       [grid = m_grid, cutoff = m_cutoff, density = m_density.shape](
                           auto cell, auto counts, auto positions, auto table, auto densities) {
                         neighbourhood<T>& near = neighbourhood_of_this_thread<T>();
                         near.collect(grid, cell, cells_of<T>(counts, positions), cutoff);
                         gather_density<T>({cutoff, over(density, table), {}, {}}, near,
                                           atoms_of<T>(cell, grid, counts, positions), &densities(cell, 0));
                         clear_free_slots(&densities(cell, 0), counts[cell], grid.capacity);
                       },
                       inner(m_grid.capacity), density_text(), nx, ny, nz, bx, by, bz, m_cutoff * m_cutoff,
                       m_density.shape.per_step, m_density.shape.last));
  }
  void embed_atoms(const atom_arrays<T>& atoms, const force_arrays<T>& to) {
    m_model.region("embedding", m_how, cells(), read(atoms.counts), read(m_densities),
                   read(m_embedding.coefficients, whole), write(m_slopes), write(to.energies),
                   with_kernel(
                       [capacity = m_grid.capacity, embedding = m_embedding.shape](
                           auto cell, auto counts, auto densities, auto table, auto slopes, auto energies) {
                         embed<T>({0, {}, {}, over(embedding, table)}, counts[cell], &densities(cell, 0),
                                  &energies(cell, 0), &slopes(cell, 0));
                         clear_free_slots(&energies(cell, 0), counts[cell], capacity);
                         clear_free_slots(&slopes(cell, 0), counts[cell], capacity);
                       },
                       inner(m_grid.capacity), embedding_text(), m_embedding.shape.per_step, m_embedding.shape.last));
  }
  void compute_forces(const atom_arrays<T>& atoms, const force_arrays<T>& to) {
    const auto [nx, ny, nz] = m_grid.count;
    const auto [bx, by, bz] = edges_of<T>(m_grid);
    m_model.region("forces", m_how, cells(), read(atoms.counts, whole), read(atoms.positions, whole),
                   read(m_slopes, whole), read(m_density.coefficients, whole), read(m_pair.coefficients, whole),
                   write(to.forces), update(to.energies),
                   with_kernel(
                       [grid = m_grid, cutoff = m_cutoff, density = m_density.shape, pair = m_pair.shape](
                           auto cell, auto counts, auto positions, auto slopes, auto density_table, auto pair_table,
                           auto forces, auto energies) {
                         neighbourhood<T>& near = neighbourhood_of_this_thread<T>();
                         all_cells<T> all = cells_of<T>(counts, positions);
                         all.attached = &slopes[0];
                         near.collect(grid, cell, all, cutoff);
                         act<T>({cutoff, over(density, density_table), over(pair, pair_table), {}}, near,
                                atoms_of<T>(cell, grid, counts, positions), &slopes(cell, 0), &forces(cell, 0, 0),
                                &energies(cell, 0));
                         clear_free_slots(&forces(cell, 0, 0), counts[cell], grid.capacity, 3);
                       },
                       inner(m_grid.capacity), embedded_force_text(), nx, ny, nz, bx, by, bz, m_cutoff * m_cutoff,
                       m_density.shape.per_step, m_density.shape.last, m_pair.shape.per_step, m_pair.shape.last)
                       .within(rounding_of_forces<T>));
  }
  iteration_space<1> cells() const { return iterate(0, m_grid.cells()); }

  /// A table as an array: four coefficients per interval.
  struct table_array {
    table_array(location_model& model, const char* name, std::string_view at, const samples& of)
        : coefficients(model.make_array<T>(name, {static_cast<std::int64_t>(of.values.size()) - 1, 4}, {.at = at})),
          shape(table_over<T>(nullptr, coefficients.extents()[0], of.step)) {
      std::ranges::transform(cubic_coefficients(of), coefficients.write().begin(),
                             [](double c) { return static_cast<T>(c); });
    }
    array<T, 2> coefficients;
    cubic_table<T> shape;  ///< without memory
  };
  static cubic_table<T> over(cubic_table<T> shape, const rows_view<const T, 2>& coefficients) {
    shape.coefficients = &coefficients[0];
    return shape;
  }

  location_model& m_model;
  region_options m_how;
  cell_grid m_grid;
  T m_cutoff;
  table_array m_density, m_pair, m_embedding;
  array<T, 2> m_densities, m_slopes;
};

}  // namespace tessera::apps::comd
