#pragma once
// Energies and what belongs to them, in a report.
#include <string>

#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"

namespace tessera::apps {

/// The molecule and its basis, or the Hamiltonian.
void report_problem(const chem_options& o, const problem& p, report& to);

/// Of the field. Returns what has not converged, in words; no energy has its name then.
std::string report_field(const problem& p, const chemistry::scf_result& scf, report& to);

/// Of the correlated methods, beside the energy of the reference in hartree. Returns as above.
std::string report_correlation(const problem& p, const sial::correlation_result& c, double reference_energy,
                               report& to);

}  // namespace tessera::apps
