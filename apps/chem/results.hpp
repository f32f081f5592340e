#pragma once
// Files that a calculation leaves for other programs.
#include <exception>

#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"

namespace tessera::apps {

/// Throws tessera::error (usage) for a file that cannot be written, or that the method has not. Before anything runs.
void check_result_files(const chem_options& o, const problem& p);

/// Those of a field that has converged, for the end of the session.
void add_orbital_files(session& to, const chem_options& o, const problem& p, const chemistry::scf_result& scf);

/// What was found, for the end of the session. `found` has all energies.
void add_qcschema_file(session& to, const chem_options& o, const problem& p, const chemistry::scf_result& scf,
                       const report& found);

/// That nothing was found, and why; written at once. No error of its own: there is one already.
void write_qcschema_failure(const chem_options& o, const std::exception& why) noexcept;

}  // namespace tessera::apps
