#pragma once
// Calculations as TOML.
#include <filesystem>
#include <string>
#include <string_view>

#include "libraries/chemistry/job/job.hpp"

namespace tessera::chemistry {

/// Reads a calculation. Keys are those of set_item, and `molecule`: the name of a molecule's file beside this one, or a
/// table that has one of
///
///     file = "water.xyz"
///     atoms = "..."        lines of element, x, y, z
///     z_matrix = "..."     as in a file of one
///
/// and `unit` of atoms or of an XYZ file, "angstrom" (the default) or "bohr". Throws tessera::error (input) with
/// file:line:column: for a syntax error, an unknown key (the hint has the nearest), a value that cannot be, and where
/// there is no molecule, or more than one.
job read_toml_job(const std::filesystem::path& file);

/// The same from memory. Files beside it are in the folder of `name`, which stands for the file in messages.
job parse_toml_job(std::string_view text, const std::string& name);

}  // namespace tessera::chemistry
