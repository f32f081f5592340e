#pragma once
// The atoms as the program has them: structures with pointers to arrays, a row per cell. How loops get at the arrays is
// the matter of data_mode.hpp.
#include <cstdint>
#include <memory>

#include "apps/comd/cell_grid.hpp"
#include "tessera/deep_copy.hpp"

namespace tessera::apps::comd {

/// What an atom takes along when it moves to another cell. In each cell the first slots are taken, in the order of the
/// atoms' numbers; the others are 0.
/// @tparam T  double or float
template <class T>
struct atom_data {
  std::int32_t* counts;  ///< atoms per cell
  std::int32_t* ids;     ///< (cell, slot): number of the atom
  T* positions;          ///< (cell, axis, slot)
  T* momenta;            ///< (cell, axis, slot)
  std::int64_t cells;    ///< rows of each array
  std::int64_t slots;    ///< of all cells together
};

/// What acts on the atoms. @tparam T  double or float
template <class T>
struct force_data {
  T* forces;           ///< (cell, axis, slot)
  T* energies;         ///< (cell, slot): potential energy of the atom
  std::int64_t slots;  ///< of all cells together
};

/// All of it. @tparam T  double or float
template <class T>
struct simulation_data {
  atom_data<T>* atoms;    ///< where they are now
  atom_data<T>* sorted;   ///< where the next step puts them
  force_data<T>* forces;  ///< on the atoms
};

template <class T>
void describe(atom_data<T>& d, description& to) {
  to.array("counts", d.counts, d.cells), to.array("ids", d.ids, d.slots);
  to.array("positions", d.positions, 3 * d.slots), to.array("momenta", d.momenta, 3 * d.slots);
  to.scalar("cells", d.cells), to.scalar("slots", d.slots);
}
template <class T>
void describe(force_data<T>& d, description& to) {
  to.array("forces", d.forces, 3 * d.slots), to.array("energies", d.energies, d.slots), to.scalar("slots", d.slots);
}
template <class T>
void describe(simulation_data<T>& d, description& to) {
  to.pointer("atoms", d.atoms), to.pointer("sorted", d.sorted), to.pointer("forces", d.forces);
}

/// The structures and their arrays, which begin without values: their pages are near those who write them first.
/// @tparam T  double or float
template <class T>
class nested_memory {
 public:
  explicit nested_memory(const cell_grid& grid) : m_atoms(grid), m_sorted(grid) {
    const std::int64_t slots = grid.cells() * grid.capacity;
    m_force_data = {fresh(m_forces, 3 * slots), fresh(m_energies, slots), slots};
  }
  nested_memory(const nested_memory&) = delete;
  nested_memory& operator=(const nested_memory&) = delete;
  simulation_data<T>& root() noexcept { return m_root; }  ///< all of it

 private:
  template <class U>
  static U* fresh(std::unique_ptr<U[]>& array, std::int64_t count) {
    array = std::make_unique_for_overwrite<U[]>(static_cast<std::size_t>(count));
    return array.get();
  }
  struct atom_memory {
    explicit atom_memory(const cell_grid& grid) {
      const std::int64_t cells = grid.cells(), slots = cells * grid.capacity;
      data = {fresh(counts, cells),
              fresh(ids, slots),
              fresh(positions, 3 * slots),
              fresh(momenta, 3 * slots),
              cells,
              slots};
    }
    std::unique_ptr<std::int32_t[]> counts, ids;
    std::unique_ptr<T[]> positions, momenta;
    atom_data<T> data;
  };
  atom_memory m_atoms, m_sorted;
  std::unique_ptr<T[]> m_forces, m_energies;
  force_data<T> m_force_data;
  simulation_data<T> m_root{&m_atoms.data, &m_sorted.data, &m_force_data};
};

/// Calls `use(id, cell, slot)` for each atom.
template <class T, class Use>
void for_each_atom(const cell_grid& grid, const atom_data<T>& atoms, const Use& use) {
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell)
    for (std::int32_t k = 0; k < atoms.counts[cell]; ++k) use(atoms.ids[cell * grid.capacity + k], cell, k);
}

/// A vector per atom by the atoms' numbers. @param vectors  (cell, axis, slot) @param count  of the atoms
template <class T>
std::vector<vector3> by_number(const cell_grid& grid, const atom_data<T>& atoms, const T* vectors, std::int64_t count) {
  std::vector<vector3> made(static_cast<std::size_t>(count));
  for_each_atom(grid, atoms, [&](std::int32_t id, std::int64_t cell, std::int32_t k) {
    for (std::int64_t a = 0; a < 3; ++a)
      made[static_cast<std::size_t>(id)][static_cast<std::size_t>(a)] =
          static_cast<double>(vectors[(3 * cell + a) * grid.capacity + k]);
  });
  return made;
}

}  // namespace tessera::apps::comd
