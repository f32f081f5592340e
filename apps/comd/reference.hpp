#pragma once
// What the regions are checked against: sums over all pairs, sums over the lattice, and known energies.
#include <optional>
#include <span>
#include <variant>

#include "apps/comd/crystal.hpp"
#include "apps/comd/embedded_atom.hpp"
#include "apps/comd/lennard_jones.hpp"

namespace tessera::apps::comd {

using potential = std::variant<lennard_jones, embedded_atom>;
double cutoff_of(const potential& p);

/// Energy and forces of atoms in a periodic box, one after the other.
struct all_pairs {
  double energy = 0;
  std::vector<vector3> forces;
};
/// Goes over all pairs, at the nearest of their periodic images. @param box  edges, at least two cutoffs long
all_pairs sum_over_all_pairs(const potential& by, const vector3& box, std::span<const vector3> positions);

/// Potential energy of an atom in the face-centred cubic lattice, by a sum over the sites around it.
double lattice_energy(const potential& by, double lattice_constant);

/// Energies per atom.
struct known_energy {
  double total = 0, potential = 0;
};
/// What is known of `cells`^3 lattice cells of Lennard-Jones atoms that start with 600 K, after so many steps of 1 fs.
std::optional<known_energy> known_lennard_jones(std::int64_t cells, std::int64_t step);

}  // namespace tessera::apps::comd
