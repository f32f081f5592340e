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
  int frozen = 0;  ///< orbitals of the core that are not correlated
  std::unique_ptr<chemistry::integrals> over;
};

/// Of a checked molecule. Throws tessera::error: usage for options that contradict each other, input for a basis set
/// that is not known or lacks an element.
problem problem_of(const chem_options& o, chemistry::molecule of);

/// "RHF", "UHF", "ROHF".
std::string name_of(chemistry::reference kind);

}  // namespace tessera::apps
