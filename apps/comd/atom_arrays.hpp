#pragma once
// The atoms as arrays of regions: a row per cell, so that a leaf of the tree holds blocks of cells.
#include <algorithm>
#include <string>

#include "apps/comd/cell_grid.hpp"
#include "apps/comd/neighbourhood.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::comd {

/// What an atom takes along when it moves to another cell. In each cell the first slots are taken, in the order of the
/// atoms' numbers; the others are 0.
/// @tparam T  double or float
template <class T>
struct atom_arrays {
  region_array<std::int32_t> counts;  ///< atoms per cell
  region_array<std::int32_t> ids;     ///< (cell, slot): number of the atom
  region_array<T> positions;          ///< (cell, axis, slot)
  region_array<T> momenta;            ///< (cell, axis, slot)

  atom_arrays(location_model& model, const cell_grid& grid, std::string_view at, const std::string& which)
      : counts(model.make_array<std::int32_t>("counts" + which, {grid.cells()}, {.at = at})),
        ids(model.make_array<std::int32_t>("ids" + which, {grid.cells(), grid.capacity}, {.at = at})),
        positions(model.make_array<T>("positions" + which, {grid.cells(), 3, grid.capacity}, {.at = at})),
        momenta(model.make_array<T>("momenta" + which, {grid.cells(), 3, grid.capacity}, {.at = at})) {}
};

/// What a neighbourhood is collected from, in the body of a region that reads both as a whole.
template <class T>
all_cells<T> cells_of(const region_view<const std::int32_t>& counts, const region_view<const T>& positions) {
  return {&counts[0], &positions[0]};
}

/// The atoms of one cell in the body of a region.
template <class T>
cell_atoms<T> atoms_of(std::int64_t cell, const cell_grid& grid, const region_view<const std::int32_t>& counts,
                       const region_view<const T>& positions) {
  return {counts[cell], grid.capacity, &positions(cell)};
}

/// Calls `use(id, cell, slot)` for each atom; on the host.
template <class Use>
void for_each_atom(const cell_grid& grid, std::span<const std::int32_t> counts, std::span<const std::int32_t> ids,
                   const Use& use) {
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell)
    for (std::int32_t k = 0; k < counts[static_cast<std::size_t>(cell)]; ++k)
      use(ids[static_cast<std::size_t>(cell * grid.capacity + k)], cell, k);
}

/// A vector per atom by the atoms' numbers, from an array (cell, axis, slot). Waits for the regions that make it.
/// @param atoms  how many there are
template <class T>
std::vector<vector3> by_number(const cell_grid& grid, const atom_arrays<T>& atoms, const region_array<T>& vectors,
                               std::int64_t count) {
  const auto counts = atoms.counts.read_host(), ids = atoms.ids.read_host();
  const auto seen = vectors.read_host();
  std::vector<vector3> made(static_cast<std::size_t>(count));
  for_each_atom(grid, counts.elements(), ids.elements(), [&](std::int32_t id, std::int64_t cell, std::int32_t k) {
    for (std::int64_t a = 0; a < 3; ++a)
      made[static_cast<std::size_t>(id)][static_cast<std::size_t>(a)] = static_cast<double>(seen(cell, a, k));
  });
  return made;
}

}  // namespace tessera::apps::comd
