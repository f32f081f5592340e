#pragma once
// Super instructions: tables of the occupied orbitals that programs for triples work on together.
#include <vector>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// set_ijk_aaa, set_ijk_aab; see docs/chemistry.md.
std::vector<instruction> batch_table_instructions();

}  // namespace tessera::sial
