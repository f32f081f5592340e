#pragma once
// Super instructions of chemistry.
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "languages/sial/instructions/instruction.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::sial {

class amplitude_port;
class triples_port;

/// What a program says about an iteration.
struct iteration_report {
  int number = 0;
  double energy = 0, residual = 0;  ///< hartree; norm of the change of the amplitudes
};

/// All super instructions of chemistry, for instruction_registry::add; docs/chemistry.md says what each does. Any
/// number of workers.
/// @param over  outlives them. Null: there is no basis, and those that need one fail with words that say so.
/// @param told  what report_iteration tells, by the first worker. Empty: it is printed as the program's output
/// @param port, triples  where amplitudes and energies of triples come from and go. Null: there are no checkpoints
std::vector<instruction> chemistry_instructions(const chemistry::integrals* over,
                                                std::function<void(const iteration_report&)> told,
                                                std::shared_ptr<amplitude_port> port = nullptr,
                                                std::shared_ptr<triples_port> triples = nullptr);

/// Whether the instruction of that name, in small letters, computes integrals or asks for the nuclei.
bool needs_basis(std::string_view name);
/// Whether it makes blocks of two-electron integrals.
bool makes_repulsion(std::string_view name);

}  // namespace tessera::sial
