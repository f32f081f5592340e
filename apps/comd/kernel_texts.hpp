#pragma once
// The bodies of force loops as texts for devices: one work item per slot of a cell. They do what lennard_jones.cpp and
// embedded_atom.cpp do, with sums in the order of the cells around.
#include <string_view>

namespace tessera::apps::comd {

// Uses and values are in the order of the texts' parameters; `count` and `box` are those of cell_grid.

/// (counts, positions; forces, energies), count, box, square of the cutoff, sigma^2, shift, 24 epsilon, 2 epsilon.
std::string_view lennard_jones_text();
/// (counts, positions, table; densities), count, box, square of the cutoff, 1 / step and last interval of the table.
std::string_view density_text();
/// (counts, densities, table; slopes, energies), 1 / step and last interval of the table.
std::string_view embedding_text();
/// (counts, positions, slopes, density and pair table; forces, energies), count, box, square of the cutoff, and 1 /
/// step and last interval of both tables.
std::string_view embedded_force_text();

}  // namespace tessera::apps::comd
