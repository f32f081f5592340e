#pragma once
// The units of molecular dynamics here: eV, Angstrom, femtoseconds, kelvin. Energies in eV, lengths in A, times in fs.

namespace tessera::apps::comd {

inline constexpr double atomic_mass_unit = 103.64269190268675;  ///< 1 amu in eV fs^2 / A^2
inline constexpr double boltzmann = 8.6173324e-5;               ///< eV / K
inline constexpr double copper_mass = 63.55;                    ///< amu

/// Kinetic energy of an atom at a temperature, in the mean: three halves of k T.
constexpr double thermal_energy(double kelvin) { return 1.5 * boltzmann * kelvin; }

}  // namespace tessera::apps::comd
