#pragma once
// What the main part of a simulation does at least.
#include <cstdint>

#include "apps/comd/cell_grid.hpp"
#include "apps/comd/simulation.hpp"
#include "apps/common/workload.hpp"

namespace tessera::apps::comd {

/// A run, as far as its work depends on it.
struct run_size {
  std::int64_t atoms = 0, steps = 0;
  std::int64_t lines = 0;   ///< of the report, each of which sums energies up
  double partners = 0;      ///< of an atom, inside the cutoff; see partners_of
  bool embedded = false;    ///< embedded atoms rather than Lennard-Jones
  std::size_t element = 8;  ///< bytes of a number
};

/// Atoms inside the cutoff of one, at the mean density.
double partners_of(std::int64_t atoms, const cell_grid& grid, double cutoff);

/// Per atom and step: two kicks (forces read, momenta changed), a drift (momenta read, positions changed, a cell
/// written), a sort (number, position and momentum read and written), forces (positions read, forces and an energy
/// written), each coordinate once. A partner inside the cutoff costs 26 operations with Lennard-Jones: 8 for the square
/// of the distance, 12 for force and energy, 6 for their sums. With embedded atoms, where a value of a table takes 9
/// operations and a slope 5 more: 19 in `densities`, 42 in `forces`, and 15 per atom in `embedding`. Partners that are
/// looked at and are too far are left out.
workload comd_workload(const run_size& of);

}  // namespace tessera::apps::comd
