#pragma once
// The atoms as arrays of regions: a row per cell, so that a leaf of the tree holds blocks of cells.
#include "apps/comd/cell_grid.hpp"
#include "apps/comd/neighbourhood.hpp"
#include "apps/comd/nested_data.hpp"
#include "tessera/deep_copy.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::comd {

/// The arrays of atom_data.
/// @tparam T  double or float
template <class T>
struct atom_arrays {
  array<std::int32_t> counts;  ///< atoms per cell
  array<std::int32_t, 2> ids;  ///< (cell, slot): number of the atom
  array<T, 3> positions;       ///< (cell, axis, slot)
  array<T, 3> momenta;         ///< (cell, axis, slot)
};

/// The arrays of force_data.
template <class T>
struct force_arrays {
  array<T, 3> forces;    ///< (cell, axis, slot)
  array<T, 2> energies;  ///< (cell, slot): potential energy of the atom
};

/// The arrays of simulation_data.
template <class T>
struct loop_arrays {
  atom_arrays<T> atoms;    ///< where they are now
  atom_arrays<T> sorted;   ///< where the next step puts them
  force_arrays<T> forces;  ///< on the atoms
};

/// Follows the pointers of a structure. @param make  makes an array, `make(name, chained_elements)`
template <class T, class Make>
std::unique_ptr<loop_arrays<T>> arrays_of(simulation_data<T>& root, const cell_grid& grid, const Make& make) {
  using data = simulation_data<T>;
  using atoms = atom_data<T>;
  const std::int64_t slots[]{grid.cells(), grid.capacity}, vectors[]{grid.cells(), 3, grid.capacity};
  const auto of_atoms = [&](atoms* data::*which, const std::string& more) {
    return atom_arrays<T>{make("counts" + more, chain(root, which, &atoms::counts)[grid.cells()]),
                          make("ids" + more, chain(root, which, &atoms::ids)[slots]),
                          make("positions" + more, chain(root, which, &atoms::positions)[vectors]),
                          make("momenta" + more, chain(root, which, &atoms::momenta)[vectors])};
  };
  return std::make_unique<loop_arrays<T>>(
      loop_arrays<T>{of_atoms(&data::atoms, ""), of_atoms(&data::sorted, " sorted"),
                     force_arrays<T>{make("forces", chain(root, &data::forces, &force_data<T>::forces)[vectors]),
                                     make("energies", chain(root, &data::forces, &force_data<T>::energies)[slots])}});
}

/// What a neighbourhood is collected from, in the body of a region that reads both as a whole.
template <class T>
all_cells<T> cells_of(const rows_view<const std::int32_t>& counts, const rows_view<const T, 3>& positions) {
  return {&counts[0], &positions[0]};
}

/// The atoms of one cell in the body of a region.
template <class T>
cell_atoms<T> atoms_of(std::int64_t cell, const cell_grid& grid, const rows_view<const std::int32_t>& counts,
                       const rows_view<const T, 3>& positions) {
  return {counts[cell], grid.capacity, &positions(cell, 0, 0)};
}

}  // namespace tessera::apps::comd
