#include "libraries/chemistry/basis/qcschema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

using nlohmann::json;

constexpr int largest_momentum = 10;

/// A value of a document, and where it is: "/center_data/h_sto-3g/electron_shells/0".
class node {
 public:
  node(const json& value, const std::string& file, std::string path)
      : m_value(&value), m_file(&file), m_path(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    throw error(error_kind::input, what, fmt::format("{} at {}", *m_file, m_path.empty() ? "/" : m_path), hint);
  }
  bool has(const std::string& key) const { return m_value->is_object() && m_value->contains(key); }
  node at(const std::string& key) const {
    if (!m_value->is_object()) fail("an object is expected");
    const auto found = m_value->find(key);
    if (found == m_value->end()) fail(fmt::format("'{}' is missing", key));
    return {*found, *m_file, m_path + "/" + key};
  }
  node at(std::size_t n) const { return {m_value->at(n), *m_file, fmt::format("{}/{}", m_path, n)}; }
  std::size_t size() const {
    if (!m_value->is_array() || m_value->empty()) fail("a list is expected that is not empty");
    return m_value->size();
  }
  std::string text() const {
    if (!m_value->is_string()) fail("a text in quotes is expected");
    return m_value->get<std::string>();
  }
  double number() const {
    double value = 0;
    if (m_value->is_string()) {
      const std::string text = m_value->get<std::string>();
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (code != std::errc() || end != text.data() + text.size())
        fail(fmt::format("{} is no number", in_quotes(text)));
    } else if (m_value->is_number()) {
      value = m_value->get<double>();
    } else {
      fail("a number is expected");
    }
    if (!std::isfinite(value)) fail("the number is not finite");
    return value;
  }
  int whole(int least, int most) const {
    const double value = number();
    if (value != std::floor(value) || value < least || value > most)
      fail(fmt::format("a whole number from {} to {} is expected", least, most));
    return static_cast<int>(value);
  }
  const json& value() const noexcept { return *m_value; }

 private:
  const json* m_value;
  const std::string* m_file;
  std::string m_path;
};

bool is_spherical(const node& shell_data) {
  const node type = shell_data.at("harmonic_type");
  const std::string text = type.text();
  if (text != "spherical" && text != "cartesian")
    type.fail(fmt::format("{} is no harmonic type", in_quotes(text)), "spherical or cartesian");
  return text == "spherical";
}

std::vector<double> exponents_of(const node& shell_data) {
  const node list = shell_data.at("exponents");
  std::vector<double> all;
  for (std::size_t k = 0; k < list.size(); ++k) {
    all.push_back(list.at(k).number());
    if (!(all.back() > 0)) list.at(k).fail("the exponent is not positive");
  }
  return all;
}

/// The shells of one entry of "electron_shells": one for each row of coefficients.
void add_shells(const node& shell_data, std::vector<shell>& to) {
  const node momenta = shell_data.at("angular_momentum"), rows = shell_data.at("coefficients");
  const bool spherical = is_spherical(shell_data);
  const std::vector<double> exponents = exponents_of(shell_data);
  if (momenta.size() != 1 && momenta.size() != rows.size())
    rows.fail(fmt::format("there are {} rows of coefficients, and {} momenta", rows.size(), momenta.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const node row = rows.at(r);
    if (row.size() != exponents.size())
      row.fail(fmt::format("there are {} coefficients, and {} exponents", row.size(), exponents.size()));
    shell one;
    one.momentum = momenta.at(momenta.size() == 1 ? 0 : r).whole(0, largest_momentum);
    one.spherical = spherical;
    for (std::size_t k = 0; k < exponents.size(); ++k) {
      const double coefficient = row.at(k).number();
      if (coefficient == 0) continue;
      one.exponents.push_back(exponents[k]);
      one.coefficients.push_back(coefficient);
    }
    if (one.exponents.empty()) row.fail("all coefficients of a shell are 0");
    to.push_back(std::move(one));
  }
}

std::vector<shell> shells_of(const node& center) {
  if ((center.has("ecp_electrons") && center.at("ecp_electrons").whole(0, 1000) != 0) ||
      (center.has("ecp_potentials") && !center.at("ecp_potentials").value().empty()))
    center.fail("effective core potentials are not computed", "a basis for all electrons is needed");
  const node list = center.at("electron_shells");
  std::vector<shell> all;
  for (std::size_t k = 0; k < list.size(); ++k) add_shells(list.at(k), all);
  return all;
}

/// The name of the data that each atom has.
std::vector<std::string> centers_of_atoms(const node& document, const molecule& of) {
  std::vector<std::string> names;
  if (document.has("atom_map")) {
    const node map = document.at("atom_map");
    if (map.size() != of.atoms.size())
      map.fail(fmt::format("it is for {} atoms, and the molecule has {}", map.size(), of.atoms.size()));
    for (std::size_t k = 0; k < map.size(); ++k) {
      names.push_back(map.at(k).text());
      if (!document.at("center_data").has(names.back()))
        map.at(k).fail(fmt::format("center_data has no {}", in_quotes(names.back())));
    }
    return names;
  }
  const node centers = document.at("center_data");
  std::map<std::string, std::string> of_symbol;
  for (const auto& [key, data] : centers.value().items()) {
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

json document_of(std::string_view text, const std::string& name) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    const std::string_view before = text.substr(0, std::min(e.byte == 0 ? 0 : e.byte - 1, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1) + 1;
    throw error(error_kind::input, "this is no JSON", fmt::format("{}:{}:{}", name, line, column),
                "a basis in QCSchema's form, or a file NAME.gbs in Gaussian-94 form");
  }
}

}  // namespace

std::vector<shell> parse_qcschema_basis(std::string_view text, const std::string& name, const molecule& of) {
  const json document = document_of(text, name);
  const node root(document, name, "");
  const node schema = root.at("schema_name");
  if (schema.text() != "qcschema_basis")
    schema.fail(fmt::format("{} is another schema", in_quotes(schema.text())), "\"qcschema_basis\"");
  if (root.has("schema_version")) (void)root.at("schema_version").whole(1, 1);
  if (!root.at("center_data").value().is_object()) root.at("center_data").fail("an object is expected");
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
