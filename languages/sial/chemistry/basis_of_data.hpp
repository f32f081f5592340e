#pragma once
// The molecule and its basis from initialization data.
#include <memory>
#include <optional>
#include <vector>

#include "languages/sial/data/init_data.hpp"
#include "languages/sial/instructions/registry.hpp"
#include "languages/sial/job/job.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::sial {

struct molecule_and_basis {
  chemistry::molecule molecule;  ///< its nuclei; charge and multiplicity are not told
  std::vector<chemistry::shell> shells;
};

/// From the arrays that front ends write (docs/chemistry.md lists them); none where the data have none of ivangmom,
/// alphas and pcoeffs. Throws tessera::error (input) that names the array where they are incomplete or contradict each
/// other.
std::optional<molecule_and_basis> basis_of(const init_data& data);

/// Integrals over that basis where a program declares an instruction that needs them; null where none does, or the data
/// have no basis. Throws as basis_of and chemistry::make_integrals.
std::unique_ptr<chemistry::integrals> integrals_for(const std::vector<job_program>& programs, const init_data& data);

/// Whether a program declares an instruction that makes blocks of two-electron integrals.
bool reads_repulsion(const job_program& p);

/// Adds the instructions of chemistry whose names are not taken. `over` as in chemistry_instructions.
void add_chemistry(instruction_registry& to, const chemistry::integrals* over);

}  // namespace tessera::sial
