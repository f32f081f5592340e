#pragma once
// In which order programs have the functions of a shell.
#include <cstddef>
#include <vector>

namespace tessera::chemistry {

/// Of the functions as Molden has them, one after another, their ordinals here: s; x, y, z; spherical ones by m = 0, 1,
/// -1, 2, -2 ...; Cartesian ones as its documentation lists them. Up to g (momentum 4).
std::vector<std::size_t> molden_order(int momentum, bool spherical);

/// As above, for the order of TREXIO: spherical ones by m = 0, 1, -1, 2, -2 ..., p too; Cartesian ones by the alphabet.
std::vector<std::size_t> trexio_order(int momentum, bool spherical);

}  // namespace tessera::chemistry
