#pragma once
// Super instructions: blocks over pairs of orbitals, each pair once, and what is symmetric or antisymmetric in them.
#include <vector>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// pack_symmetric, pack_antisymmetric, unpack_pairs; see docs/chemistry.md.
std::vector<instruction> pair_instructions();

}  // namespace tessera::sial
