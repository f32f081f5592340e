#pragma once
// The potential of Lennard and Jones, cut off and shifted to zero there.
#include "apps/comd/neighbourhood.hpp"

namespace tessera::apps::comd {

/// 4 epsilon (s^6 - s^3) - shift with s = (sigma / r)^2, for copper. Plain data.
struct lennard_jones {
  double epsilon = 0.167;       ///< depth of the well
  double sigma = 2.315;         ///< distance at which the energy crosses zero
  double cutoff = 2.5 * 2.315;  ///< atoms that are farther apart do not act on each other
  /// What (s^6 - s^3) is at the cutoff.
  double shift() const;
  /// Energy of a pair. @param square  of the distance
  double energy(double square) const;
  /// Force of a pair over the distance: times r_i - r_j the force on i.
  double force(double square) const;
};

/// What the neighbourhood does to the atoms of a cell. Each pair gives half of its energy to each of its two atoms.
/// Returns the sum of the energies, in double.
/// @param forces  x of all slots, then y, z @param energies  of each slot
template <class T>
double act(const lennard_jones& by, const neighbourhood<T>& near, const cell_atoms<T>& on, T* forces, T* energies);

}  // namespace tessera::apps::comd
