#pragma once
// The atoms that may act on those of one cell.
#include <cstdint>
#include <vector>

#include "apps/comd/cell_grid.hpp"

namespace tessera::apps::comd {

/// The atoms of all cells, as arrays with one row per cell.
/// @tparam T  double or float
template <class T>
struct all_cells {
  const std::int32_t* counts;   ///< atoms per cell
  const T* positions;           ///< per cell the x of all slots, then y, z
  const T* attached = nullptr;  ///< a number per slot that the neighbourhood takes along; null: none
};

/// The atoms of one cell: the beginning of each of its rows.
template <class T>
struct cell_atoms {
  std::int32_t count;     ///< atoms in it
  std::int32_t capacity;  ///< slots
  const T* positions;     ///< x of all slots, then y, z
  T x(std::int32_t k) const { return positions[k]; }
  T y(std::int32_t k) const { return positions[capacity + k]; }
  T z(std::int32_t k) const { return positions[2 * capacity + k]; }
};

/// Coordinates of the atoms in a cell and around it, one after the other, those beyond an edge of the box moved there.
/// Only atoms that are nearer than the cutoff to the smallest box around the cell's atoms are taken: in a crystal three
/// fifths of those in the 27 cells. One object serves one cell after the other and keeps its memory.
template <class T>
class neighbourhood {
 public:
  /// In the order of for_each_neighbour and of the slots.
  void collect(const cell_grid& grid, std::int64_t cell, const all_cells<T>& all, T cutoff);

  const T* x() const { return m_x.data(); }
  const T* y() const { return m_y.data(); }
  const T* z() const { return m_z.data(); }
  const T* attached() const { return m_attached.data(); }
  /// Their number, filled up to a multiple of 8 with atoms that are far from everything.
  std::int32_t size() const { return m_size; }

 private:
  void append(const all_cells<T>& all, std::int64_t other, std::int32_t capacity, const vector3& shift, T cutoff);

  std::vector<T> m_x, m_y, m_z, m_attached, m_distances;
  T m_low[3]{}, m_high[3]{};  // the smallest box around the cell's atoms
  std::int32_t m_size = 0;
};

}  // namespace tessera::apps::comd
