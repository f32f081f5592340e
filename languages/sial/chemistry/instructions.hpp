#pragma once
// Super instructions of chemistry.
#include <functional>
#include <memory>
#include <vector>

#include "languages/sial/instructions/instruction.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::sial {

/// What a program says about an iteration.
struct iteration_report {
  int number = 0;
  double energy = 0, residual = 0;  ///< hartree; norm of the change of the amplitudes
};

/// Instructions over a molecule's basis, for instruction_registry::add:
///   compute_integral_batch w   (mu nu|la si) of a block of basis functions; 0 where its bound is below 1e-13 hartree
///   compute_int_scratchmem uuu nothing; for programs that ask for it
///   energy_denominator_rhf ur  X[p,q,r,s, ...] / (e_q + e_s + ... - e_p - e_r - ...) with the diagonal of a matrix
///   over
///                              orbitals; simple indices are numbers of orbitals
///   stripi ru                  the part of a block that another one covers: its simple indices choose one orbital
///   report_iteration rrr       number, energy and residual, to `told` by the first worker
/// `over` outlives them. Any number of workers.
std::vector<instruction> chemistry_instructions(const chemistry::integrals& over,
                                                std::function<void(const iteration_report&)> told);

}  // namespace tessera::sial
