#include "libraries/chemistry/job/read_qcschema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "libraries/chemistry/job/job_item.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/json_value.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

/// Keys that say nothing about an energy are known, and read over.
const std::vector<std::string> top_keys{"schema_name", "schema_version", "id",        "molecule", "driver",
                                        "model",       "keywords",       "protocols", "extras",   "provenance"};
const std::vector<std::string> molecule_keys{
    "schema_name",  "schema_version",  "symbols",      "geometry",    "molecular_charge", "molecular_multiplicity",
    "real",         "atomic_numbers",  "name",         "identifiers", "comment",          "masses",
    "mass_numbers", "atom_labels",     "connectivity", "fragments",   "fragment_charges", "fragment_multiplicities",
    "fix_com",      "fix_orientation", "fix_symmetry", "validated",   "provenance",       "id",
    "extras"};
/// Names of other programs.
const std::map<std::string, std::string> other_keywords{{"freeze_core", "frozen_core"},
                                                        {"num_frozen_docc", "frozen_orbitals"},
                                                        {"num_frozen_uocc", "frozen_virtual"},
                                                        {"e_convergence", "convergence"}};

void require_known(const json_value& of, const std::vector<std::string>& keys) {
  for (const std::string& key : of.keys())
    if (std::ranges::find(keys, key) == keys.end())
      of.fail(fmt::format("there is no key {}", in_quotes(key)), hint_for_name(key, keys));
}

int whole(const json_value& from) { return static_cast<int>(from.whole(-1000000, 1000000)); }

void expect_schema(const json_value& of, const std::string& name) {
  if (of.has("schema_name"))
    if (const std::string& found = of.at("schema_name").text(); found != name)
      of.at("schema_name").fail(fmt::format("the schema is {}, and '{}' is expected", in_quotes(found), name));
}

/// x, y, z of all atoms, one behind the other; lists of three are taken, too.
std::vector<double> coordinates_of(const json_value& geometry) {
  std::vector<double> all;
  for (std::size_t k = 0; k < geometry.size(); ++k) {
    const json_value one = geometry.at(k);
    if (!one.is_list()) {
      all.push_back(one.number());
      continue;
    }
    if (one.size() != 3) one.fail(fmt::format("the place of an atom has {} coordinates", one.size()));
    for (std::size_t x = 0; x < 3; ++x) all.push_back(one.at(x).number());
  }
  return all;
}

int number_of(const json_value& symbol) {
  const int number = find_element(symbol.text());
  if (number == 0)
    symbol.fail(fmt::format("no element has the symbol {}", in_quotes(symbol.text())), hint_for_element(symbol.text()));
  return number;
}

void refuse_ghosts(const json_value& real, std::size_t atoms) {
  if (real.size() != atoms) real.fail(fmt::format("it has {} elements, and there are {} atoms", real.size(), atoms));
  for (std::size_t k = 0; k < atoms; ++k)
    if (!real.at(k).flag())
      real.at(k).fail(fmt::format("atom {} is a ghost, and functions without a nucleus are not there", k + 1),
                      "leave the atom out");
}

molecule molecule_from(const json_value& from) {
  require_known(from, molecule_keys);
  expect_schema(from, "qcschema_molecule");
  const json_value symbols = from.at("symbols"), geometry = from.at("geometry");
  const std::vector<double> places = coordinates_of(geometry);
  const std::size_t atoms = symbols.size();
  if (places.size() != 3 * atoms)
    geometry.fail(fmt::format("{} coordinates are there, and {} atoms need {}", places.size(), atoms, 3 * atoms));
  molecule m;
  for (std::size_t k = 0; k < atoms; ++k)
    m.atoms.push_back({number_of(symbols.at(k)), {places[3 * k], places[3 * k + 1], places[3 * k + 2]}});
  if (from.has("real")) refuse_ghosts(from.at("real"), atoms);
  if (from.has("atomic_numbers")) {
    const json_value numbers = from.at("atomic_numbers");
    if (numbers.size() != atoms)
      numbers.fail(fmt::format("it has {} elements, and there are {} atoms", numbers.size(), atoms));
    for (std::size_t k = 0; k < atoms; ++k)
      if (numbers.at(k).whole() != m.atoms[k].number)
        numbers.at(k).fail(fmt::format("the number of atom {} is not that of its symbol", k + 1));
  }
  return m;
}

item_value item_of(const json_value& from) {
  if (from.is_flag()) return from.flag();
  if (from.is_whole()) return from.whole();
  if (from.is_number()) return from.number();
  if (from.is_text()) return from.text();
  std::vector<std::int64_t> numbers;
  for (std::size_t k = 0; k < from.size(); ++k) numbers.push_back(from.at(k).whole());
  return numbers;
}

/// What the model and the molecule say has no keyword.
void read_keywords(const json_value& from, job& to) {
  std::vector<std::string> known = item_names();
  for (const char* elsewhere : {"basis", "method", "charge", "multiplicity"}) std::erase(known, elsewhere);
  for (const auto& [usual, here] : other_keywords) known.push_back(usual);
  std::set<std::string> seen;
  for (const std::string& key : from.keys()) {
    if (!from.has(key)) continue;
    const json_value keyword = from.at(key);
    std::string name = in_small_letters(key);
    if (std::ranges::find(known, name) == known.end())
      keyword.fail(fmt::format("there is no keyword {}", in_quotes(key)), hint_for_name(name, known));
    if (const auto other = other_keywords.find(name); other != other_keywords.end()) name = other->second;
    if (!seen.insert(name).second) keyword.fail(fmt::format("{} is given twice", name));
    item_value value = item_of(keyword);
    if (const auto* words = std::get_if<std::string>(&value); words != nullptr && name == "frozen_core")
      if (const std::string word = in_small_letters(*words); word == "true" || word == "false") value = word == "true";
    set_item(to, name, value, keyword.where());
  }
  if (to.frozen_core && to.frozen_orbitals)
    from.fail("the frozen core is given twice", "leave out one of the keywords");
}

/// Methods may say the reference as well: "uhf".
void read_model(const json_value& from, job& to) {
  require_known(from, {"method", "basis"});
  const json_value method = from.at("method"), basis = from.at("basis");
  const std::string name = in_small_letters(method.text());
  if (name == "rhf" || name == "uhf" || name == "rohf") {
    to.reference = name;
    to.method = "scf";
  } else {
    set_item(to, "method", name, method.where());
  }
  if (!basis.is_object()) return set_item(to, "basis", basis.text(), basis.where());
  to.own_basis = basis.text_at_its_place();
  set_item(to, "basis", basis.at("name").text(), basis.at("name").where());
}

/// What energies have nothing to do with: the usual protocols are followed.
void note_protocols(const json_value& from, job& to) {
  const auto is_usual = [&](const std::string& key) {
    const json_value is = from.at(key);
    if (key == "wavefunction" || key == "native_files") return is.is_text() && is.text() == "none";
    return key == "error_correction" || (key == "stdout" && is.is_flag() && is.flag());
  };
  for (const std::string& key : from.keys())
    if (from.has(key) && !is_usual(key))
      to.notes.push_back(fmt::format("the protocol {} is not followed", in_quotes(key)));
}

job job_from(const json_value& from, const std::string& name) {
  require_known(from, top_keys);
  if (!from.has("schema_name")) from.fail("schema_name is missing", "'qcschema_input' is expected");
  expect_schema(from, "qcschema_input");
  if (from.has("schema_version") && whole(from.at("schema_version")) != 1)
    from.at("schema_version").fail("version 1 of the schema is read");
  const json_value driver = from.at("driver"), molecule = from.at("molecule");
  if (driver.text() != "energy")
    driver.fail(fmt::format("the driver is {}, and energies alone are computed", in_quotes(driver.text())),
                "\"driver\": \"energy\"");
  job read;
  read.name = name;
  read.geometry = molecule_from(molecule);
  read.geometry.name = name;
  if (molecule.has("molecular_charge")) read.charge = whole(molecule.at("molecular_charge"));
  if (molecule.has("molecular_multiplicity"))
    set_item(read, "multiplicity", std::int64_t{whole(molecule.at("molecular_multiplicity"))},
             molecule.at("molecular_multiplicity").where());
  read_model(from.at("model"), read);
  if (from.has("keywords")) read_keywords(from.at("keywords"), read);
  place_files(read, std::filesystem::path(name).parent_path());
  if (from.has("protocols")) note_protocols(from.at("protocols"), read);
  return read;
}

}  // namespace

job read_qcschema(const std::filesystem::path& file) { return parse_qcschema(text_of_file(file), file.string()); }

job parse_qcschema(std::string_view text, const std::string& name) {
  const json_document document(text, name);
  return job_from(document.root(), name);
}

}  // namespace tessera::chemistry
