#pragma once
// Molecules: nuclei at places, with a charge and a spin.
#include <array>
#include <string>
#include <vector>

namespace tessera::chemistry {

/// Ångström per bohr (CODATA 2018, Bohr radius in 1e-10 m).
inline constexpr double angstrom_per_bohr = 0.529177210903;

struct atom {
  int number = 1;              ///< of the element: 1 (hydrogen) to 118
  std::array<double, 3> at{};  ///< x, y, z in bohr
};

struct molecule {
  std::vector<atom> atoms = {};
  int charge = 0;         ///< in elementary charges; positive when electrons are missing
  int multiplicity = 1;   ///< 2S + 1; 1 is a singlet
  std::string name = {};  ///< for messages: where it was read from
};

/// Number of electrons: the nuclear charges less the charge. Throws tessera::error of kind input when the charge is
/// larger than the nuclear charges.
int electrons(const molecule& of);

/// Sum over pairs of Z_a Z_b / |R_a - R_b|, in hartree; 0 for one atom. Infinite for two atoms at one place.
double nuclear_repulsion(const molecule& of);

/// Number of doubly occupied orbitals that belong to the noble gas before each atom, summed over the atoms: H, He 0;
/// Li to Ne 1; Na to Ar 5; K to Kr 9; Rb to Xe 18; Cs to Rn 27; Fr to Og 43.
int frozen_core_orbitals(const molecule& of);

/// Throws tessera::error of kind input, with both atoms by symbol and ordinal (from 1) where there are two, for:
/// no atoms; an unknown element; a coordinate that is not finite, or beyond 1e9 bohr; atoms closer than 0.1 bohr; no
/// electrons; a multiplicity that the number of electrons does not allow. Readers of files do not call it: charge and
/// multiplicity often come from elsewhere.
void check(const molecule& of);

}  // namespace tessera::chemistry
