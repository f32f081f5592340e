#pragma once
// Basis sets in QCSchema's form.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/basis/shell.hpp"
#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

/// The shells of a molecule from a basis in QCSchema's form (schema "qcschema_basis", version 1; MolSSI's
/// QCSchema, and the JSON that the Basis Set Exchange calls qcschema):
///
///     {"schema_name": "qcschema_basis", "schema_version": 1, "name": "mine",
///      "center_data": {"h_mine": {"electron_shells": [
///         {"harmonic_type": "spherical", "angular_momentum": [0],
///          "exponents": [13.01, 1.96, 0.44], "coefficients": [[0.0197, 0.138, 0.478]]}]}},
///      "atom_map": ["h_mine", "h_mine"]}
///
/// `atom_map` names the data of each atom, in the molecule's order. Where it is missing, those of an element begin
/// with its symbol and "_", or are called by it. A shell of several momenta has a row of coefficients for each; other
/// rows are shells of their own. Numbers may be strings, as the exchange writes them.
///
/// Throws tessera::error of kind input with file:line:column, and the place in the document: for what is no JSON, a key
/// that is given twice, what does not belong there or is missing, numbers beyond the limits of shell.hpp, and effective
/// core potentials.
std::vector<shell> read_qcschema_basis(const std::filesystem::path& file, const molecule& of);

/// The same from memory; `name` stands for the file in messages.
std::vector<shell> parse_qcschema_basis(std::string_view text, const std::string& name, const molecule& of);

}  // namespace tessera::chemistry
