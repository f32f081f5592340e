#include "libraries/chemistry/molecule/read_molecule.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "libraries/chemistry/molecule/read_z_matrix.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {

bool is_z_matrix_file(const std::filesystem::path& file) {
  const std::string ending = in_small_letters(file.extension().string());
  return ending == ".zmat" || ending == ".gzmat" || ending == ".zmatrix";
}

molecule read_molecule(const std::filesystem::path& file, std::optional<length_unit> unit) {
  const std::string ending = in_small_letters(file.extension().string());
  if (ending == ".xyz") return read_xyz(file, unit);
  if (!is_z_matrix_file(file))
    throw error(error_kind::usage, fmt::format("a molecule's file cannot end in '{}'", ending), file.string(),
                "expected NAME.xyz, or NAME.zmat for a Z-matrix");
  if (unit == length_unit::bohr)
    throw error(error_kind::usage, "a Z-matrix is in angstrom", file.string(), "bohr is for XYZ files");
  return read_z_matrix(file);
}

}  // namespace tessera::chemistry
