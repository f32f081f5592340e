#pragma once
// Names of molecules for people.
#include <string>

#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::apps {

/// "H2O", in Hill's order: carbon, hydrogen, then by the alphabet; without carbon all by the alphabet.
std::string formula_of(const chemistry::molecule& of);

}  // namespace tessera::apps
