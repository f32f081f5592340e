#include "libraries/chemistry/basis/qcschema.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/json_value.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

constexpr int largest_momentum = 10;

/// A list with something in it.
json_value filled(const json_value& list) {
  if (list.size() == 0) list.fail("a list is expected that is not empty");
  return list;
}

/// A number, which may be a text, as the Basis Set Exchange has them.
double number_of(const json_value& from) {
  if (!from.is_text()) return from.number();
  const std::string& text = from.text();
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    from.fail(fmt::format("{} is no number", in_quotes(text)));
  if (!std::isfinite(value)) from.fail("the number is not finite");
  return value;
}

void refuse_if(const std::string& fault, const json_value& at) {
  if (!fault.empty()) at.fail(fault);
}

int momentum_of(const json_value& from) { return static_cast<int>(from.whole(0, largest_momentum)); }

bool is_spherical(const json_value& shell_data) {
  const json_value type = shell_data.at("harmonic_type");
  const std::string text = type.text();
  if (text != "spherical" && text != "cartesian")
    type.fail(fmt::format("{} is no harmonic type", in_quotes(text)), "spherical or cartesian");
  return text == "spherical";
}

std::vector<double> exponents_of(const json_value& shell_data) {
  const json_value list = filled(shell_data.at("exponents"));
  std::vector<double> all;
  for (std::size_t k = 0; k < list.size(); ++k) {
    all.push_back(number_of(list.at(k)));
    refuse_if(fault_of_exponent(all.back()), list.at(k));
  }
  return all;
}

/// The shells of one entry of "electron_shells": one for each row of coefficients.
void add_shells(const json_value& shell_data, std::vector<shell>& to) {
  const json_value momenta = filled(shell_data.at("angular_momentum")), rows = filled(shell_data.at("coefficients"));
  const bool spherical = is_spherical(shell_data);
  const std::vector<double> exponents = exponents_of(shell_data);
  if (momenta.size() != 1 && momenta.size() != rows.size())
    rows.fail(fmt::format("there are {} rows of coefficients, and {} momenta", rows.size(), momenta.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const json_value row = rows.at(r);
    if (row.size() != exponents.size())
      row.fail(fmt::format("there are {} coefficients, and {} exponents", row.size(), exponents.size()));
    shell one;
    one.momentum = momentum_of(momenta.at(momenta.size() == 1 ? 0 : r));
    one.spherical = spherical;
    for (std::size_t k = 0; k < exponents.size(); ++k) {
      const double coefficient = number_of(row.at(k));
      refuse_if(fault_of_coefficient(coefficient), row.at(k));
      if (coefficient == 0) continue;
      one.exponents.push_back(exponents[k]);
      one.coefficients.push_back(coefficient);
    }
    refuse_if(fault_of(one), row);
    to.push_back(std::move(one));
  }
}

std::vector<shell> shells_of(const json_value& center) {
  const auto is_empty = [](const json_value& potentials) {
    return potentials.is_list() ? potentials.size() == 0 : potentials.whole(0, 1000) == 0;
  };
  for (const char* const key : {"ecp_potentials", "ecp_electrons"})
    if (center.has(key) && !is_empty(center.at(key)))
      center.at(key).fail("effective core potentials are not supported", "a basis for all electrons is needed");
  const json_value list = filled(center.at("electron_shells"));
  std::vector<shell> all;
  for (std::size_t k = 0; k < list.size(); ++k) add_shells(list.at(k), all);
  return all;
}

/// The name of the data that each atom has.
std::vector<std::string> centers_of_atoms(const json_value& document, const molecule& of) {
  std::vector<std::string> names;
  if (document.has("atom_map")) {
    const json_value map = filled(document.at("atom_map"));
    if (map.size() != of.atoms.size())
      map.fail(fmt::format("it is for {} atoms, and the molecule has {}", map.size(), of.atoms.size()));
    for (std::size_t k = 0; k < map.size(); ++k) {
      names.push_back(map.at(k).text());
      if (!document.at("center_data").has(names.back()))
        map.at(k).fail(fmt::format("center_data has no {}", in_quotes(names.back())));
    }
    return names;
  }
  const json_value centers = document.at("center_data");
  std::map<std::string, std::string> of_symbol;
  for (const std::string& key : centers.keys()) {
    const std::string symbol = in_small_letters(key.substr(0, key.find('_')));
    if (!of_symbol.emplace(symbol, key).second)
      centers.fail(fmt::format("two entries are for {}: {} and {}", in_quotes(symbol), in_quotes(of_symbol.at(symbol)),
                               in_quotes(key)),
                   "atom_map says which atom has which");
  }
  for (std::size_t k = 0; k < of.atoms.size(); ++k) {
    const std::string_view symbol = symbol_of(of.atoms[k].number);
    const auto found = of_symbol.find(in_small_letters(symbol));
    if (found == of_symbol.end())
      centers.fail(fmt::format("it lacks {}, which is atom {} of the molecule", symbol, k + 1));
    names.push_back(found->second);
  }
  return names;
}

}  // namespace

std::vector<shell> parse_qcschema_basis(std::string_view text, const std::string& name, const molecule& of) {
  const json_document document(text, name);
  const json_value root = document.root();
  const json_value schema = root.at("schema_name");
  if (schema.text() != "qcschema_basis")
    schema.fail(fmt::format("{} is another schema", in_quotes(schema.text())), "\"qcschema_basis\"");
  if (root.has("schema_version")) (void)root.at("schema_version").whole(1, 1);
  const std::vector<std::string> centers = centers_of_atoms(root, of);
  std::map<std::string, std::vector<shell>> known;
  std::vector<shell> all;
  for (std::size_t k = 0; k < of.atoms.size(); ++k) {
    auto found = known.find(centers[k]);
    if (found == known.end()) found = known.emplace(centers[k], shells_of(root.at("center_data").at(centers[k]))).first;
    for (shell one : found->second) {
      one.atom = k;
      one.at = of.atoms[k].at;
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<shell> read_qcschema_basis(const std::filesystem::path& file, const molecule& of) {
  return parse_qcschema_basis(text_of_file(file), file.string(), of);
}

}  // namespace tessera::chemistry
