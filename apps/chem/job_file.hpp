#pragma once
// The file that a calculation comes from, under the options of the command line.
#include "apps/chem/options.hpp"
#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::apps {

/// Reads the file that the options name. What it says and the command line does not goes to the options; its notes,
/// too. The molecule has been checked. Throws tessera::error as chemistry::read_job and chemistry::molecule_of.
chemistry::molecule read_job_file(chem_options& o);

}  // namespace tessera::apps
