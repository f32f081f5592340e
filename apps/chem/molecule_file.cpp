#include "apps/chem/molecule_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "core/base/error.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/read_z_matrix.hpp"

namespace tessera::apps {

chemistry::molecule read_molecule(const std::string& file, std::optional<chemistry::length_unit> unit,
                                  std::optional<int> charge, std::optional<int> multiplicity) {
  std::string ending = std::filesystem::path(file).extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  chemistry::molecule m;
  if (ending == ".xyz") {
    m = chemistry::read_xyz(file, unit);
  } else if (ending == ".zmat" || ending == ".gzmat" || ending == ".zmatrix") {
    if (unit == chemistry::length_unit::bohr)
      throw error(error_kind::usage, "a Z-matrix is in angstrom", file, "--unit bohr is for XYZ files");
    m = chemistry::read_z_matrix(file);
  } else {
    throw error(error_kind::usage, fmt::format("a molecule's file cannot end in '{}'", ending), file,
                "expected NAME.xyz, or NAME.zmat for a Z-matrix");
  }
  if (charge) m.charge = *charge;
  if (multiplicity)
    m.multiplicity = *multiplicity;
  else if (m.multiplicity == 1 && chemistry::electrons(m) % 2 != 0)
    throw error(error_kind::usage, fmt::format("{} electrons cannot all be paired", chemistry::electrons(m)), file,
                "--multiplicity 2 for one unpaired electron, with --reference uhf or rohf; or --charge for an ion");
  chemistry::check(m);
  return m;
}

std::string formula_of(const chemistry::molecule& of) {
  std::map<std::string, int> counts;
  for (const chemistry::atom& a : of.atoms) ++counts[std::string(chemistry::symbol_of(a.number))];
  std::string text;
  const auto add = [&](const std::string& symbol) {
    const auto found = counts.find(symbol);
    if (found == counts.end()) return;
    text += symbol;
    if (found->second > 1) text += std::to_string(found->second);
    counts.erase(found);
  };
  if (counts.contains("C")) {
    add("C");
    add("H");
  }
  while (!counts.empty()) add(std::string(counts.begin()->first));
  if (of.charge != 0) text += fmt::format(" {:+d}", of.charge);
  return text;
}

}  // namespace tessera::apps
