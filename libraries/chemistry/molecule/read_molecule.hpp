#pragma once
// Files of a molecule alone.
#include <filesystem>
#include <optional>

#include "libraries/chemistry/molecule/molecule.hpp"
#include "libraries/chemistry/molecule/read_xyz.hpp"

namespace tessera::chemistry {

/// Reads an XYZ file (.xyz) or a Z-matrix (.zmat, .gzmat, .zmatrix). Throws tessera::error: usage for another ending
/// and for a Z-matrix in bohr; input as the readers. The molecule is not checked (see `check`).
molecule read_molecule(const std::filesystem::path& file, std::optional<length_unit> unit = std::nullopt);

/// Whether the file's ending is that of a Z-matrix.
bool is_z_matrix_file(const std::filesystem::path& file);

}  // namespace tessera::chemistry
