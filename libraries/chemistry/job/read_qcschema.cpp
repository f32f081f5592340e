#include "libraries/chemistry/job/read_qcschema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/job/job_item.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

using nlohmann::json;

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

/// A member of the document, and where it is: "molecule.geometry".
class node {
 public:
  node(const json& value, const std::string& file, std::string path)
      : m_value(value), m_file(file), m_path(std::move(path)) {}

  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw error(error_kind::input, std::move(message), where(), std::move(hint));
  }
  std::string where() const { return m_path.empty() ? m_file : fmt::format("{}: {}", m_file, m_path); }
  const json& value() const noexcept { return m_value; }

  void require_object() const {
    if (!m_value.is_object()) fail(fmt::format("an object is expected, and it is {}", m_value.type_name()));
  }
  void require_known(const std::vector<std::string>& keys) const {
    require_object();
    for (const auto& [key, inner] : m_value.items())
      if (std::ranges::find(keys, key) == keys.end())
        fail(fmt::format("there is no key {}", in_quotes(key)), hint_for_name(key, keys));
  }
  node child(const std::string& key) const {
    return {m_value.at(key), m_file, m_path.empty() ? key : fmt::format("{}.{}", m_path, key)};
  }
  /// A member that is null is as good as none.
  bool has(const char* key) const { return m_value.contains(key) && !m_value.at(key).is_null(); }
  node required(const char* key) const {
    if (!has(key)) fail(fmt::format("{} is missing", key));
    return child(key);
  }
  std::string text() const {
    if (!m_value.is_string()) fail(fmt::format("a text is expected, and it is {}", m_value.type_name()));
    return m_value.get<std::string>();
  }
  const json& list() const {
    if (!m_value.is_array()) fail(fmt::format("a list is expected, and it is {}", m_value.type_name()));
    return m_value;
  }
  int whole() const {
    const double number = m_value.is_number() ? m_value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(std::abs(number) <= 1e6) || number != std::floor(number))
      fail(fmt::format("a whole number is expected, and it is {}",
                       m_value.dump(-1, ' ', false, json::error_handler_t::replace)));
    return static_cast<int>(number);
  }

 private:
  const json& m_value;
  const std::string& m_file;
  std::string m_path;
};

void expect_schema(const node& of, const std::string& name) {
  if (of.has("schema_name"))
    if (const std::string found = of.child("schema_name").text(); found != name)
      of.child("schema_name").fail(fmt::format("the schema is {}, and '{}' is expected", in_quotes(found), name));
}

/// x, y, z of all atoms, one behind the other; lists of three are taken, too.
std::vector<double> coordinates_of(const node& geometry) {
  std::vector<double> all;
  const auto take = [&](const json& number) {
    if (!number.is_number()) geometry.fail(fmt::format("coordinate {} is no number", all.size() + 1));
    all.push_back(number.get<double>());
  };
  for (const json& one : geometry.list()) {
    if (!one.is_array()) {
      take(one);
      continue;
    }
    if (one.size() != 3) geometry.fail(fmt::format("the place of an atom has {} coordinates", one.size()));
    for (const json& number : one) take(number);
  }
  return all;
}

int number_of(const node& symbols, const json& symbol) {
  if (!symbol.is_string()) symbols.fail("a symbol is no text");
  const auto text = symbol.get<std::string>();
  const int number = find_element(text);
  if (number == 0) symbols.fail(fmt::format("no element has the symbol {}", in_quotes(text)), hint_for_element(text));
  return number;
}

void refuse_ghosts(const node& real, std::size_t atoms) {
  if (real.list().size() != atoms)
    real.fail(fmt::format("it has {} elements, and there are {} atoms", real.value().size(), atoms));
  for (std::size_t k = 0; k < atoms; ++k) {
    if (!real.value()[k].is_boolean()) real.fail(fmt::format("element {} is neither true nor false", k + 1));
    if (!real.value()[k].get<bool>())
      real.fail(fmt::format("atom {} is a ghost, and functions without a nucleus are not there", k + 1),
                "leave the atom out");
  }
}

molecule molecule_from(const node& from) {
  from.require_known(molecule_keys);
  expect_schema(from, "qcschema_molecule");
  const node symbols = from.required("symbols"), geometry = from.required("geometry");
  const std::vector<double> places = coordinates_of(geometry);
  const std::size_t atoms = symbols.list().size();
  if (places.size() != 3 * atoms)
    geometry.fail(fmt::format("{} coordinates are there, and {} atoms need {}", places.size(), atoms, 3 * atoms));
  molecule m;
  for (std::size_t k = 0; k < atoms; ++k)
    m.atoms.push_back({number_of(symbols, symbols.value()[k]), {places[3 * k], places[3 * k + 1], places[3 * k + 2]}});
  if (from.has("real")) refuse_ghosts(from.child("real"), atoms);
  if (from.has("atomic_numbers")) {
    const node numbers = from.child("atomic_numbers");
    for (std::size_t k = 0; k < atoms; ++k)
      if (numbers.list().size() != atoms || numbers.value()[k] != m.atoms[k].number)
        numbers.fail(fmt::format("the number of atom {} is not that of its symbol", k + 1));
  }
  return m;
}

item_value item_of(const node& from) {
  const json& is = from.value();
  if (is.is_boolean()) return is.get<bool>();
  if (is.is_number_unsigned() && is.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    from.fail("the number is too large");
  if (is.is_number_integer()) return is.get<std::int64_t>();
  if (is.is_number()) return is.get<double>();
  if (is.is_string()) return is.get<std::string>();
  std::vector<std::int64_t> numbers;
  for (const json& one : from.list()) {
    if (!one.is_number_integer()) from.fail("an element of the list is no whole number");
    numbers.push_back(one.get<std::int64_t>());
  }
  return numbers;
}

/// What the model and the molecule say has no keyword.
void read_keywords(const node& from, job& to) {
  from.require_object();
  std::vector<std::string> known = item_names();
  for (const char* elsewhere : {"basis", "method", "charge", "multiplicity"}) std::erase(known, elsewhere);
  for (const auto& [usual, here] : other_keywords) known.push_back(usual);
  std::set<std::string> seen;
  for (const auto& [key, is] : from.value().items()) {
    const node keyword = from.child(key);
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
void read_model(const node& from, job& to) {
  from.require_known({"method", "basis"});
  const node method = from.required("method"), basis = from.required("basis");
  const std::string name = in_small_letters(method.text());
  if (name == "rhf" || name == "uhf" || name == "rohf") {
    to.reference = name;
    to.method = "scf";
  } else {
    set_item(to, "method", name, method.where());
  }
  if (!basis.value().is_object()) return set_item(to, "basis", basis.text(), basis.where());
  to.own_basis = basis.value().dump(-1, ' ', false, json::error_handler_t::replace);
  set_item(to, "basis", basis.required("name").text(), basis.where() + ".name");
}

void note_protocols(const node& from, job& to) {
  from.require_object();
  const std::map<std::string, json> usual{{"wavefunction", "none"}, {"stdout", true}, {"native_files", "none"}};
  for (const auto& [key, is] : from.value().items())
    if (const auto found = usual.find(key);
        !is.is_null() && key != "error_correction" && (found == usual.end() || found->second != is))
      to.notes.push_back(fmt::format("the protocol {} is not followed", in_quotes(key)));
}

job job_from(const node& from, const std::string& name) {
  from.require_known(top_keys);
  if (!from.has("schema_name")) from.fail("schema_name is missing", "'qcschema_input' is expected");
  expect_schema(from, "qcschema_input");
  if (from.has("schema_version") && from.child("schema_version").whole() != 1)
    from.child("schema_version").fail("version 1 of the schema is read");
  const node driver = from.required("driver"), molecule = from.required("molecule");
  if (driver.text() != "energy")
    driver.fail(fmt::format("the driver is {}, and energies alone are computed", in_quotes(driver.text())),
                "\"driver\": \"energy\"");
  job read;
  read.name = name;
  molecule.require_object();
  read.geometry = molecule_from(molecule);
  read.geometry.name = name;
  if (molecule.has("molecular_charge")) read.charge = molecule.child("molecular_charge").whole();
  if (molecule.has("molecular_multiplicity"))
    set_item(read, "multiplicity", std::int64_t{molecule.child("molecular_multiplicity").whole()},
             molecule.child("molecular_multiplicity").where());
  read_model(from.required("model"), read);
  if (from.has("keywords")) read_keywords(from.child("keywords"), read);
  if (from.has("protocols")) note_protocols(from.child("protocols"), read);
  return read;
}

}  // namespace

job read_qcschema(const std::filesystem::path& file) { return parse_qcschema(text_of_file(file), file.string()); }

job parse_qcschema(std::string_view text, const std::string& name) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& e) {
    throw error(error_kind::input, fmt::format("the file is no JSON: {}", e.what()), name);
  }
  return job_from({document, name, {}}, name);
}

}  // namespace tessera::chemistry
