#pragma once
// Atoms and their cells: putting them there at the start, noticing that they leave, and moving them.
#include <cmath>
#include <utility>
#include <vector>

#include "apps/comd/atom_arrays.hpp"
#include "core/base/error.hpp"

namespace tessera::apps::comd {

/// Puts the atoms into their cells, each row by the leaf that will work on it. Waits. Throws tessera::error (numerical)
/// where a cell has too few slots.
template <class T>
void place(location_model& model, const region_options& how, const cell_grid& grid, const crystal& start,
           const atom_arrays<T>& to);

/// Throws tessera::error (numerical): more atoms are in one cell than there are slots.
[[noreturn]] void refuse_crowded_cell(std::int32_t capacity);
/// Throws tessera::error (numerical): an atom moved farther than to a neighbour cell, or to no place at all.
/// @param coordinate  where it is along an axis
[[noreturn]] void refuse_move(double coordinate, std::int64_t step);

/// Moves the atoms of a cell by their momenta times `factor`, back into the box where they left it, and says in which
/// cell each is then. Returns how many are in another one. @param step  its number, for messages
template <class T>
std::int32_t move_atoms(const cell_grid& grid, std::int64_t cell, std::int32_t count, T factor, const T* momenta,
                        T* positions, std::int32_t* targets, std::int64_t step) {
  const std::array<std::int32_t, 3> here = grid.place(cell);
  std::fill_n(targets, count, 0);
  bool refused = false;
  for (std::size_t a = 0; a < 3; ++a) {
    T* const x = positions + static_cast<std::int64_t>(a) * grid.capacity;
    const T* const p = momenta + static_cast<std::int64_t>(a) * grid.capacity;
    const T box = static_cast<T>(grid.box[a]);
    const std::int32_t cells = grid.count[a];
    const T per_length = static_cast<T>(cells) / box;
    for (std::int32_t k = 0; k < count; ++k) {
      T v = x[k] + factor * p[k];
      v += v < 0 ? box : T(0);
      v -= v >= box ? box : T(0);  // also where a tiny step below 0 was rounded to the edge of the box
      const bool inside = v >= 0 && v < box;
      std::int32_t to = inside ? static_cast<std::int32_t>(v * per_length) : here[a];
      to = to < cells ? to : cells - 1;
      const std::int32_t moved = to > here[a] ? to - here[a] : here[a] - to;
      refused |= !inside || (moved > 1 && moved != cells - 1);
      targets[k] = targets[k] * cells + to;
      x[k] = v;
    }
  }
  if (refused) {
    double wrong = 0;  // a coordinate that is no number, if there is one
    for (std::int32_t a = 0; a < 3; ++a)
      for (std::int32_t k = 0; k < count; ++k)
        if (const auto v = static_cast<double>(positions[a * grid.capacity + k]); !std::isfinite(v)) wrong = v;
    refuse_move(wrong, step);
  }
  clear_free_slots(targets, count, grid.capacity);
  std::int32_t leaving = 0;
  for (std::int32_t k = 0; k < count; ++k) leaving += targets[k] != cell ? 1 : 0;
  return leaving;
}

/// The atoms of all cells after a drift: the first elements of their arrays.
template <class T>
struct drifted_atoms {
  const std::int32_t *counts, *ids;
  const T *positions, *momenta;
  const std::int32_t* targets;  ///< (cell, slot): the cell that the atom is in now
  const std::int32_t* leaving;  ///< per cell: how many are in another one
};
/// Where the atoms of one cell go: the beginning of each of its rows.
template <class T>
struct cell_rows {
  std::int32_t* ids;
  T *positions, *momenta;
};

/// Takes the atoms that are in a cell from the cells around it, and sorts them by their numbers: so sums over them do
/// not depend on where they came from. Returns how many there are.
template <class T>
std::int32_t pull_atoms(const cell_grid& grid, std::int64_t cell, const drifted_atoms<T>& from,
                        const cell_rows<T>& to) {
  struct source {
    std::int32_t id;
    std::int64_t slot;  // among those of all cells
  };
  thread_local std::vector<source> mine;
  mine.clear();
  const std::int64_t capacity = grid.capacity;
  grid.for_each_cell_around(cell, [&](std::int64_t other) {  // first the cell itself, which is sorted
    if (other != cell && from.leaving[other] == 0) return;
    for (std::int64_t slot = other * capacity; slot < other * capacity + from.counts[other]; ++slot) {
      if (from.targets[slot] != cell) continue;
      mine.push_back({from.ids[slot], slot});
      for (std::size_t i = mine.size() - 1; i > 0 && mine[i - 1].id > mine[i].id; --i) std::swap(mine[i - 1], mine[i]);
    }
  });
  if (mine.size() > static_cast<std::size_t>(capacity)) refuse_crowded_cell(grid.capacity);
  std::int64_t k = 0;
  for (const source& s : mine) {
    const std::int64_t other = s.slot / capacity, slot = s.slot % capacity;
    to.ids[k] = s.id;
    for (std::int64_t a = 0; a < 3; ++a) {
      to.positions[a * capacity + k] = from.positions[(3 * other + a) * capacity + slot];
      to.momenta[a * capacity + k] = from.momenta[(3 * other + a) * capacity + slot];
    }
    ++k;
  }
  const auto count = static_cast<std::int32_t>(k);
  clear_free_slots(to.ids, count, grid.capacity);
  clear_free_slots(to.positions, count, grid.capacity, 3);
  clear_free_slots(to.momenta, count, grid.capacity, 3);
  return count;
}

/// What a drift says of the atoms beside their positions.
struct drift_arrays {
  array<std::int32_t, 2> targets;  ///< (cell, slot): the cell that the atom is in now
  array<std::int32_t> leaving;     ///< per cell: how many are in another one

  drift_arrays(location_model& model, const cell_grid& grid, std::string_view at)
      : targets(model.make_array<std::int32_t>("targets", {grid.cells(), grid.capacity}, {.at = at})),
        leaving(model.make_array<std::int32_t>("leaving", {grid.cells()}, {.at = at})) {}
};

/// Submits the region in which each cell takes its atoms: cells read others, and write themselves alone.
template <class T>
void sort_into_cells(location_model& model, const region_options& how, const cell_grid& grid,
                     const atom_arrays<T>& from, const drift_arrays& drifted, const atom_arrays<T>& to) {
  model.region("sort", how, iterate(0, grid.cells()), read(from.counts, whole), read(from.ids, whole),
               read(from.positions, whole), read(from.momenta, whole), read(drifted.targets, whole),
               read(drifted.leaving, whole), write(to.counts), write(to.ids), write(to.positions), write(to.momenta),
               [grid](auto cell, auto counts, auto ids, auto positions, auto momenta, auto targets, auto leaving,
                      auto new_counts, auto new_ids, auto new_positions, auto new_momenta) {
                 new_counts[cell] = pull_atoms<T>(
                     grid, cell, {&counts[0], &ids[0], &positions[0], &momenta[0], &targets[0], &leaving[0]},
                     {&new_ids(cell, 0), &new_positions(cell, 0, 0), &new_momenta(cell, 0, 0)});
               });
}

template <class T>
void place(location_model& model, const region_options& how, const cell_grid& grid, const crystal& start,
           const atom_arrays<T>& to) {
  const auto cells = static_cast<std::size_t>(grid.cells()), capacity = static_cast<std::size_t>(grid.capacity);
  std::vector<std::int32_t> counts(cells), ids(cells * capacity);
  std::vector<T> positions(3 * cells * capacity), momenta(3 * cells * capacity);
  for (std::size_t id = 0; id < start.positions.size(); ++id) {
    std::array<std::int32_t, 3> at{};
    for (std::size_t a = 0; a < 3; ++a)
      at[a] = grid.along(a, static_cast<double>(static_cast<T>(start.positions[id][a])));
    const auto cell = static_cast<std::size_t>(grid.cell(at));
    const auto slot = static_cast<std::size_t>(counts[cell]++);
    if (slot == capacity) refuse_crowded_cell(grid.capacity);
    ids[cell * capacity + slot] = static_cast<std::int32_t>(id);
    for (std::size_t a = 0; a < 3; ++a) {
      positions[(3 * cell + a) * capacity + slot] = static_cast<T>(start.positions[id][a]);
      momenta[(3 * cell + a) * capacity + slot] = static_cast<T>(start.momenta[id][a]);
    }
  }
  const auto load = [&]<class U>(const auto& into, std::vector<U>& memory) {
    const auto source =
        model.adopt("start of " + into.name(), std::span<U>(memory), into.extents().extents(), {.at = how.at});
    model.region("place", how, iterate(0, grid.cells()), read(source), write(into),
                 [width = into.extents().count() / grid.cells()](auto cell, auto text, auto here) {
                   std::copy_n(&text[cell * width], width, &here[cell * width]);
                 });
    model.fence();
  };
  load(to.counts, counts);
  load(to.ids, ids);
  load(to.positions, positions);
  load(to.momenta, momenta);
}

}  // namespace tessera::apps::comd
