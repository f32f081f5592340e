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

/// Reads the molecule and its basis. Throws tessera::error (usage) for options that contradict each other, and as the
/// readers.
problem read_problem(const chem_options& o);

/// "RHF", "UHF", "ROHF".
std::string name_of(chemistry::reference kind);

}  // namespace tessera::apps
