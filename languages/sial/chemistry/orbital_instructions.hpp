#pragma once
// Super instructions: element work that needs the numbers of orbitals.
#include <vector>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// energy_denominator_rhf, stripi; see docs/chemistry.md.
std::vector<instruction> orbital_instructions();

}  // namespace tessera::sial
