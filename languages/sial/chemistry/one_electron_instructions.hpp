#pragma once
// Super instructions: integrals of one electron, and what the nuclei add.
#include <memory>
#include <vector>

#include "languages/sial/chemistry/basis_access.hpp"
#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// return_ovl, return_h1, compute_dipole_integrals, compute_nn_repulsion; see docs/chemistry.md.
std::vector<instruction> one_electron_instructions(const std::shared_ptr<basis_access>& basis);

}  // namespace tessera::sial
