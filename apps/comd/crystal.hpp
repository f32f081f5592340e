#pragma once
// The start of a run: atoms at the sites of a face-centred cubic lattice in a periodic box, and their momenta.
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::apps::comd {

using vector3 = std::array<double, 3>;

/// Atoms by their numbers: atom s of the four in the lattice cell (x, y, z) is s + 4 (z + nz (y + ny x)).
struct crystal {
  std::array<std::int64_t, 3> size{};  ///< lattice cells along x, y, z
  double lattice_constant = 0;         ///< edge of a lattice cell
  std::vector<vector3> positions;      ///< in the box, from 0 to its edges
  std::vector<vector3> momenta;        ///< as many

  std::int64_t atoms() const { return static_cast<std::int64_t>(positions.size()); }
  vector3 box() const;  ///< edges of the periodic box
};

/// Atoms at rest at the sites: a quarter and three quarters of a lattice cell's edge.
crystal make_crystal(const std::array<std::int64_t, 3>& size, double lattice_constant);

/// Draws momenta from the normal distribution of a temperature, each atom with random numbers of its own; then takes
/// the mean velocity off and scales, so that the box rests and the kinetic energy is that of the temperature exactly.
/// @param mass  of an atom, in eV fs^2 / A^2
void set_temperature(crystal& of, double mass, double kelvin, std::uint64_t seed = 1);

}  // namespace tessera::apps::comd
