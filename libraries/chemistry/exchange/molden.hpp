#pragma once
// Orbitals for programs that draw them.
#include <string>

#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {

/// A file in Molden format: atoms in bohr, the basis, and all orbitals with energies and occupations; beta's behind
/// alpha's where they are others. Contractions are normalised, and so is each function that coefficients are of, as
/// readers expect it. Throws tessera::error (usage) for functions that the format does not have: beyond g, or spherical
/// and Cartesian ones of one momentum.
std::string molden_text(const integrals& over, const scf_result& scf, const std::string& title);

/// Throws as molden_text does for functions.
void check_molden_functions(const integrals& over);

}  // namespace tessera::chemistry
