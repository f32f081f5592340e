#pragma once
// The molecule that a command is given.
#include <optional>
#include <string>

#include "libraries/chemistry/molecule/molecule.hpp"
#include "libraries/chemistry/molecule/read_xyz.hpp"

namespace tessera::apps {

/// Reads an XYZ file (.xyz) or a Z-matrix (.zmat, .gzmat, .zmatrix), with the given charge and multiplicity where there
/// are some, and checks it. Throws tessera::error (input) as the readers and chemistry::check, and for other endings.
chemistry::molecule read_molecule(const std::string& file, std::optional<chemistry::length_unit> unit,
                                  std::optional<int> charge, std::optional<int> multiplicity);

/// "H2O", in Hill's order: carbon, hydrogen, then by the alphabet; without carbon all by the alphabet.
std::string formula_of(const chemistry::molecule& of);

}  // namespace tessera::apps
