#pragma once
// The checks of `tessera comd --verify`.
#include <span>
#include <string>

#include "apps/comd/reference.hpp"
#include "apps/comd/simulation.hpp"
#include "apps/common/application.hpp"

namespace tessera::apps::comd {

/// What is simulated.
struct material {
  std::string name;             ///< of the potential
  double mass = 0;              ///< of an atom, in amu
  double lattice_constant = 0;  ///< of the lattice at the start
  potential acts;               ///< between the atoms
};

/// One run.
struct experiment {
  material of;
  crystal start;
  double kelvin = 0, dt = 0;
  bool single = false;     ///< in float
  std::uint64_t seed = 1;  ///< of the momenta
};

/// What was measured after so many steps.
struct measurement {
  std::int64_t step = 0;
  totals all;
};

/// At the start: energies, and forces that cancel. @param forces  by the atoms' numbers
void check_start(application_run& to, const experiment& e, const totals& seen, std::span<const vector3> forces);
/// Of the whole run: what is conserved, and what is known. @param rows  the first one is that of the start
void check_run(application_run& to, const experiment& e, std::span<const measurement> rows);
/// Where there are few atoms: against the sum over all pairs. @param positions, forces  by the atoms' numbers, at the
/// end
void check_end(application_run& to, const experiment& e, const totals& seen, std::span<const vector3> positions,
               std::span<const vector3> forces);

}  // namespace tessera::apps::comd
