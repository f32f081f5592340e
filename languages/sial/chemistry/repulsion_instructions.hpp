#pragma once
// Super instructions: integrals of two electrons, and Fock matrices from them.
#include <memory>
#include <vector>

#include "languages/sial/chemistry/basis_access.hpp"
#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// compute_integral_batch, compute_ubatch1, 2, 4, 6, 7 and 8; see docs/chemistry.md.
std::vector<instruction> repulsion_instructions(const std::shared_ptr<basis_access>& basis);

}  // namespace tessera::sial
