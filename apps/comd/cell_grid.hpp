#pragma once
// Link cells: the periodic box cut into cells that are at least as wide as the cutoff, so that all partners of an atom
// are in its cell or in one of the 26 around it.
#include <algorithm>
#include <array>
#include <cstdint>

#include "apps/comd/crystal.hpp"

namespace tessera::apps::comd {

/// Cells along each axis. A cell has a number, z fastest, and slots for atoms. Plain data: bodies of regions copy it.
struct cell_grid {
  std::array<std::int32_t, 3> count{};  ///< cells along x, y, z
  vector3 box{};                        ///< edges of the box
  std::int32_t capacity = 0;            ///< slots of a cell; a multiple of 8

  std::int64_t cells() const { return std::int64_t{count[0]} * count[1] * count[2]; }
  /// Where a cell is, counted along x, y, z.
  std::array<std::int32_t, 3> place(std::int64_t cell) const {
    return {static_cast<std::int32_t>(cell / count[2] / count[1]),
            static_cast<std::int32_t>(cell / count[2] % count[1]), static_cast<std::int32_t>(cell % count[2])};
  }
  /// The number of the cell at a place.
  std::int64_t cell(const std::array<std::int32_t, 3>& at) const {
    return (std::int64_t{at[0]} * count[1] + at[1]) * count[2] + at[2];
  }
  /// The cell, along an axis, of a coordinate from 0 to the box's edge.
  std::int32_t along(std::size_t axis, double coordinate) const {
    const auto k = static_cast<std::int32_t>(coordinate * (count[axis] / box[axis]));
    return k < count[axis] ? k : count[axis] - 1;
  }

  /// Calls `use(other, shift)` for a cell and the 26 around it, always in the same order. What is beyond an edge of the
  /// box is the cell at the other edge, and `shift` is what its atoms' coordinates have to be moved by.
  template <class Use>
  void for_each_neighbour(std::int64_t of, const Use& use) const {
    const std::array<std::int32_t, 3> here = place(of);
    std::array<std::array<std::int32_t, 3>, 3> at{};
    std::array<vector3, 3> shift{};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::int32_t k = 0; k < 3; ++k) {
        const std::int32_t there = here[a] + k - 1, n = count[a];
        const auto i = static_cast<std::size_t>(k);
        at[a][i] = there < 0 ? there + n : there >= n ? there - n : there;
        shift[a][i] = there < 0 ? -box[a] : there >= n ? box[a] : 0;
      }
    for (std::size_t x = 0; x < 3; ++x)
      for (std::size_t y = 0; y < 3; ++y)
        for (std::size_t z = 0; z < 3; ++z)
          use(cell({at[0][x], at[1][y], at[2][z]}), vector3{shift[0][x], shift[1][y], shift[2][z]});
  }
  /// Calls `use(other)` once for each of the cells that for_each_neighbour names: along an axis of two cells, both
  /// neighbours are the same one.
  template <class Use>
  void for_each_cell_around(std::int64_t of, const Use& use) const {
    const std::array<std::int32_t, 3> here = place(of);
    const auto around = [&](std::size_t a, std::int32_t k) {  // k: 0 is the cell itself
      const std::int32_t there = here[a] + (k == 2 ? -1 : k), n = count[a];
      return there < 0 ? there + n : there >= n ? there - n : there;
    };
    for (std::int32_t x = 0; x < 3 && x < count[0]; ++x)
      for (std::int32_t y = 0; y < 3 && y < count[1]; ++y)
        for (std::int32_t z = 0; z < 3 && z < count[2]; ++z) use(cell({around(0, x), around(1, y), around(2, z)}));
  }
};

/// Sets the free slots of a cell to 0, in `axes` rows of `capacity` slots of which the first `count` are taken: a
/// region that writes a row writes all of it.
template <class T>
void clear_free_slots(T* rows, std::int32_t count, std::int32_t capacity, std::int32_t axes = 1) {
  for (std::int32_t a = 0; a < axes; ++a) std::fill(rows + a * capacity + count, rows + (a + 1) * capacity, T(0));
}

/// As many cells along each axis as fit, each at least as wide as the cutoff and, where that is short, as a lattice
/// cell: fewer atoms than that need no cell of their own. Throws tessera::error (usage) where an
/// edge of the box is shorter than two cutoffs: an atom would meet its partner twice.
cell_grid make_cell_grid(const crystal& of, double cutoff);

}  // namespace tessera::apps::comd
