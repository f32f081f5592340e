#include "libraries/chemistry/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "libraries/chemistry/job/job_item.hpp"
#include "libraries/chemistry/job/read_aces_job.hpp"
#include "libraries/chemistry/job/read_qcschema.hpp"
#include "libraries/chemistry/job/read_toml_job.hpp"
#include "libraries/chemistry/molecule/read_molecule.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

/// A molecule alone.
job job_of(molecule only) {
  job made;
  made.geometry = std::move(only);
  return made;
}

void refuse_unit(const std::string& file, std::optional<length_unit> unit) {
  if (unit) throw error(error_kind::usage, "the file has its own unit of length", file, "--unit is for XYZ files");
}

/// Whether the text may be a ZMAT: a file of that name has no ending that says something else.
bool may_be_zmat(const std::filesystem::path& file) {
  const std::string name = in_small_letters(file.filename().string());
  return is_z_matrix_file(file) || (name.starts_with("zmat") && !name.ends_with(".xyz"));
}

job read_by_ending(const std::filesystem::path& file, std::optional<length_unit> unit) {
  const std::string ending = in_small_letters(file.extension().string());
  if (ending == ".toml" || ending == ".json") {
    refuse_unit(file.string(), unit);
    return ending == ".toml" ? read_toml_job(file) : read_qcschema(file);
  }
  if (may_be_zmat(file))
    if (const std::string text = text_of_file(file); is_aces_job(text) || !is_z_matrix_file(file)) {
      refuse_unit(file.string(), unit);
      return parse_aces_job(text, file.string());
    }
  if (ending != ".xyz" && !is_z_matrix_file(file))
    throw error(error_kind::usage, fmt::format("a calculation's file cannot end in '{}'", ending), file.string(),
                "a molecule is NAME.xyz or NAME.zmat, a calculation NAME.toml, NAME.json (QCSchema) or ZMAT");
  return job_of(read_molecule(file, unit));
}

}  // namespace

job read_job(const std::filesystem::path& file, std::optional<length_unit> unit) {
  job read = read_by_ending(file, unit);
  read.name = file.string();
  return read;
}

molecule molecule_of(const job& of) {
  molecule m = of.geometry;
  if (of.charge) m.charge = *of.charge;
  if (of.multiplicity)
    m.multiplicity = *of.multiplicity;
  else if (m.multiplicity == 1 && electrons(m) % 2 != 0)
    throw error(error_kind::usage, fmt::format("{} electrons cannot all be paired", electrons(m)), of.name,
                "--multiplicity 2 for one unpaired electron, with --reference uhf or rohf; or --charge for an ion");
  check(m);
  return m;
}

std::string usual_method(std::string_view name) {
  static const std::vector<std::string> known{"scf", "mp2", "ccsd", "ccsd(t)"};
  std::string small = in_small_letters(name);
  if (small == "hf") small = "scf";
  if (small == "ccsd-t") small = "ccsd(t)";
  if (std::ranges::find(known, small) == known.end())
    throw error(error_kind::usage, fmt::format("there is no method {}", in_quotes(name)), "--method",
                "one of scf, mp2, ccsd, ccsd(t)");
  return small;
}

}  // namespace tessera::chemistry
