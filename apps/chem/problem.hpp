#pragma once
// What is asked for: a molecule in a basis, and what of it is computed.
#include <memory>
#include <optional>
#include <string>

#include "apps/chem/options.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/molecule/molecule.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::apps {

struct problem {
  std::optional<sial::correlation_method> method;  ///< none: the field alone
  chemistry::molecule of;
  chemistry::reference kind = chemistry::reference::rhf;
  int frozen = 0;          ///< orbitals of the core that are not correlated
  std::string title;       ///< "H2O", or the file of a Hamiltonian
  double core_energy = 0;  ///< hartree, that is in none of the integrals
  bool is_model = false;   ///< a Hamiltonian without a molecule: `of` has no atoms
  std::unique_ptr<chemistry::integrals> over;
};

/// Of a checked molecule. Throws tessera::error: usage for options that contradict each other, input for a basis set
/// that is not known or lacks an element.
problem problem_of(const chem_options& o, chemistry::molecule of);

/// A Hamiltonian without a molecule, from an FCIDUMP file. Throws tessera::error: usage for options that are of
/// molecules, and as above; input as chemistry::read_fcidump.
problem model_problem_of(const chem_options& o);

/// Whether the file's name is that of an FCIDUMP file: NAME.fcidump, FCIDUMP...
bool is_model_file(const std::string& file);

/// "RHF", "UHF", "ROHF".
std::string name_of(chemistry::reference kind);

}  // namespace tessera::apps
