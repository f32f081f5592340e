#pragma once
// Z-matrices as in Gaussian inputs: each atom by its distance, angle and dihedral to earlier ones.
#include <filesystem>
#include <string>
#include <string_view>

#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

/// Reads one molecule. A line per atom:
///
///     element  [reference distance  [reference angle  [reference dihedral]]]
///
/// in ångström and degrees, words set apart by blanks or commas. The first atom has no reference, the second one, the
/// third two. An element may carry digits ("C1"), and a reference is an ordinal from 1 or such a label. "X" is a dummy:
/// it may be referred to and is no atom of the molecule. A value is a number, a variable, or "-" and a variable.
/// Variables ("r 0.96", "r = 0.96") follow a blank line or "Variables:", and "Constants:" after them. A first line of
/// two whole numbers is charge and multiplicity. "!" and "#" begin comments.
///
/// The first atom is at the origin, the second on the z axis, the third in the xz plane. The molecule is not checked
/// (see `check`).
///
/// Throws tessera::error of kind input, with file:line:column: for a file that cannot be read; for an unknown element
/// or variable (the hint has the nearest); for a variable that is given twice or not used. References are to earlier
/// atoms, and a line has none of them twice. Numbers are finite, and words are neither too few nor too many. A distance
/// is positive, an angle more than 0 and at most 180 degrees. The references of a dihedral do not lie on a line, unless
/// the angle is 180 degrees.
molecule read_z_matrix(const std::filesystem::path& file);

/// The same from memory; `name` stands for the file in messages and becomes the molecule's name.
molecule parse_z_matrix(std::string_view text, const std::string& name);

}  // namespace tessera::chemistry
