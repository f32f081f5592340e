#pragma once
// XYZ files: the number of atoms, a comment, then a line per atom with its element and place.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

enum class length_unit : std::uint8_t {
  angstrom,
  bohr
};

/// Reads one molecule. Elements are symbols or numbers; case does not matter. Coordinates are in `unit`; where none is
/// given, in bohr when the comment has the word "bohr", otherwise in ångström. Charge and multiplicity stay 0 and 1,
/// whatever the comment says; the molecule is not checked (see `check`).
///
/// Throws tessera::error of kind input, with file:line:column: for a file that cannot be read, or an unknown element
/// (the hint has the nearest); for a number that is none or not finite, and for words behind the coordinates. Atoms are
/// as many as the first line says: a file with a second molecule is refused. So is a comment with bohr and ångström,
/// unless `unit` is given.
molecule read_xyz(const std::filesystem::path& file, std::optional<length_unit> unit = std::nullopt);

/// The same from memory; `name` stands for the file in messages and becomes the molecule's name.
molecule parse_xyz(std::string_view text, const std::string& name, std::optional<length_unit> unit = std::nullopt);

/// The lines of atoms alone, without a number and a comment before them; at least one. Throws as read_xyz.
std::vector<atom> parse_atoms(std::string_view text, const std::string& name, length_unit unit);

}  // namespace tessera::chemistry
