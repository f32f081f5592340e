#include "libraries/chemistry/job/read_toml_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/toml.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/job/job_item.hpp"
#include "libraries/chemistry/molecule/read_molecule.hpp"
#include "libraries/chemistry/molecule/read_z_matrix.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

using config::value;

[[noreturn]] void fail(const value& at, std::string message, std::string hint = {}) {
  throw error(error_kind::input, std::move(message), at.where, std::move(hint));
}

std::string text(const value& from, std::string_view what) {
  const std::string* const words = from.get<std::string>();
  if (words == nullptr) fail(from, fmt::format("{} is {}, not text in quotes", what, from.type_name()));
  return *words;
}

item_value item_of(const value& from, const std::string& what) {
  if (const auto* flag = from.get<bool>()) return *flag;
  if (const auto* whole = from.get<std::int64_t>()) return *whole;
  if (const auto* real = from.get<double>()) return *real;
  if (const auto* words = from.get<std::string>()) return *words;
  const auto* const list = from.get<config::array>();
  if (list == nullptr) fail(from, fmt::format("{} is a table", what));
  std::vector<std::int64_t> numbers;
  for (const value& one : *list) {
    const auto* const number = one.get<std::int64_t>();
    if (number == nullptr) fail(one, fmt::format("an element of {} is {}, not an integer", what, one.type_name()));
    numbers.push_back(*number);
  }
  return numbers;
}

/// The table `molecule`.
struct molecule_table {
  const value *file = nullptr, *atoms = nullptr, *z_matrix = nullptr, *unit = nullptr;
};

molecule_table members_of(const value& from) {
  molecule_table found;
  for (const auto& [name, is] : *from.get<config::table>()) {
    if (name == "file")
      found.file = &is;
    else if (name == "atoms")
      found.atoms = &is;
    else if (name == "z_matrix")
      found.z_matrix = &is;
    else if (name == "unit")
      found.unit = &is;
    else
      fail(is, fmt::format("there is no key {} of a molecule", in_quotes(name)),
           hint_for_name(name, {"file", "atoms", "z_matrix", "unit"}));
  }
  const int given = (found.file != nullptr) + (found.atoms != nullptr) + (found.z_matrix != nullptr);
  if (given != 1)
    fail(from, given == 0 ? "the molecule has no atoms" : "the molecule is given more than once",
         "one of file, atoms and z_matrix");
  return found;
}

std::optional<length_unit> unit_of(const value* from) {
  if (from == nullptr) return std::nullopt;
  const std::string name = in_small_letters(text(*from, "unit"));
  if (name == "bohr") return length_unit::bohr;
  if (name == "angstrom") return length_unit::angstrom;
  fail(*from, fmt::format("no unit of length is {}", in_quotes(name)), "angstrom or bohr");
}

/// A file beside the calculation's. A name that cannot be right is the key's fault.
molecule molecule_in(const value& file, const std::filesystem::path& folder, std::optional<length_unit> unit, job& of) {
  const std::filesystem::path path = folder / text(file, "the molecule's file");
  of.reads.push_back(path.string());
  try {
    return read_molecule(path, unit);
  } catch (const error& e) {
    if (e.kind() != error_kind::usage) throw;
    fail(file, e.message(), e.hint());
  }
}

molecule molecule_from(const value& from, const std::filesystem::path& folder, job& of) {
  if (from.get<config::table>() == nullptr) return molecule_in(from, folder, std::nullopt, of);
  const molecule_table given = members_of(from);
  const std::optional<length_unit> unit = unit_of(given.unit);
  if (given.file != nullptr) return molecule_in(*given.file, folder, unit, of);
  if (given.atoms != nullptr)
    return {.atoms = parse_atoms(text(*given.atoms, "atoms"), given.atoms->where + ": atoms",
                                 unit.value_or(length_unit::angstrom)),
            .name = from.where};
  if (given.unit != nullptr && unit == length_unit::bohr) fail(*given.unit, "a Z-matrix is in angstrom");
  return parse_z_matrix(text(*given.z_matrix, "z_matrix"), given.z_matrix->where + ": z_matrix");
}

config::table table_of(std::string_view toml, const std::string& name) {
  try {
    return config::parse_toml(toml, name);
  } catch (const error& failure) {
    throw error(error_kind::input, failure.message(), failure.where(), failure.hint());
  }
}

/// A key that set_item does not know is refused here: `molecule` is one, too.
void require_known(const std::string& key, const value& at) {
  std::vector<std::string> known = item_names();
  known.insert(known.begin(), "molecule");
  if (std::ranges::find(known, key) == known.end())
    fail(at, fmt::format("there is no key {}", in_quotes(key)), hint_for_name(key, known));
}

}  // namespace

job read_toml_job(const std::filesystem::path& file) { return parse_toml_job(text_of_file(file), file.string()); }

job parse_toml_job(std::string_view toml, const std::string& name) {
  job read;
  read.name = name;
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  bool has_molecule = false;
  for (const auto& [key, is] : table_of(toml, name)) {
    if (key == "molecule") {
      read.geometry = molecule_from(is, folder, read);
      has_molecule = true;
      continue;
    }
    require_known(key, is);
    set_item(read, key, item_of(is, key), is.where);
    if ((key == "frozen_core" || key == "frozen_orbitals") && read.frozen_core && read.frozen_orbitals)
      fail(is, "frozen_core and frozen_orbitals are both given", "leave one of them out");
  }
  if (!has_molecule)
    throw error(error_kind::input, "there is no molecule", name, "molecule = \"water.xyz\", or a table [molecule]");
  place_files(read, folder);
  if (read.basis && names_basis_file(*read.basis)) {
    read.basis = (folder / *read.basis).string();
    read.reads.push_back(*read.basis);
  }
  return read;
}

}  // namespace tessera::chemistry
