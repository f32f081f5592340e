#pragma once
// The density to begin with.
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

/// Superposition of atoms' densities, for each of two spins, over the functions: each atom is a sphere, its electrons
/// are spread over the functions of a shell alike (J. H. Van Lenthe et al., J. Comput. Chem. 27 (2006) 926).
std::vector<double> density_of_atoms(const molecule& of, const integrals& over);

}  // namespace tessera::chemistry
