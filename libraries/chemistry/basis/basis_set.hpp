#pragma once
// Basis sets: the shells of each element, at no place yet.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/basis/shell.hpp"

namespace tessera::chemistry {

struct basis_set {
  std::string name;                             ///< for messages
  std::map<int, std::vector<shell>> shells_of;  ///< by number of the element, in the order of the table
};

/// Reads a set in Gaussian-94 format, as the Basis Set Exchange and psi4 write it:
///
///     spherical               or cartesian; spherical where neither is said
///     ****
///     H     0
///     S    3   1.00           momentum, number of primitives, scale factor
///           3.42525091D+00   0.15432897D+00
///     ...
///     ****
///
/// SP and L shells become an s and a p shell. A shell of several columns becomes one shell per column. A primitive with
/// coefficient 0 is left out of its column. Exponents are multiplied by the square of the scale factor, which is 1
/// where it is missing. "!" begins a comment.
///
/// Throws tessera::error of kind input, with file:line:column: for a file that cannot be read, an unknown element or
/// momentum, an element that is given twice, and an effective core potential. Each element has shells, each shell
/// primitives, and no column vanishes. Exponents and coefficients are within the limits of shell.hpp, scale factors
/// positive. "****" ends each element, also the last.
basis_set read_gaussian94(const std::filesystem::path& file);

/// The same from memory; `name` stands for the file in messages and becomes the name of the set.
basis_set parse_gaussian94(std::string_view text, const std::string& name);

}  // namespace tessera::chemistry
