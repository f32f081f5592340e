#include "libraries/chemistry/checkpoint/json_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::array reference_words{std::pair{reference::rhf, "rhf"}, std::pair{reference::uhf, "uhf"},
                                     std::pair{reference::rohf, "rohf"}};
constexpr int highest_momentum = 20, highest_number = 118;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

shell shell_from(const nlohmann::ordered_json& from, const molecule& of) {
  shell s;
  s.momentum = from.at("momentum").get<int>();
  s.spherical = from.at("spherical").get<bool>();
  s.exponents = from.at("exponents").get<std::vector<double>>();
  s.coefficients = from.at("coefficients").get<std::vector<double>>();
  s.atom = from.at("atom").get<std::size_t>();
  require(s.momentum >= 0 && s.momentum <= highest_momentum, "a shell has an impossible momentum");
  require(!s.exponents.empty() && s.exponents.size() == s.coefficients.size(),
          "a shell has not as many coefficients as exponents");
  require(std::ranges::all_of(s.exponents, [](double e) { return e > 0; }),
          "a shell has an exponent that is not positive");
  require(s.atom < of.atoms.size(), "a shell belongs to an atom that is not there");
  s.at = of.atoms[s.atom].at;
  return s;
}

}  // namespace

nlohmann::ordered_json to_json(const system_of_functions& one) {
  auto atoms = nlohmann::ordered_json::array(), shells = nlohmann::ordered_json::array();
  for (const atom& a : one.of.atoms) atoms.push_back({{"number", a.number}, {"at", a.at}});
  for (const shell& s : one.shells)
    shells.push_back({{"atom", s.atom},
                      {"momentum", s.momentum},
                      {"spherical", s.spherical},
                      {"exponents", s.exponents},
                      {"coefficients", s.coefficients}});
  return {{"name", one.of.name}, {"charge", one.of.charge}, {"multiplicity", one.of.multiplicity},
          {"atoms", atoms},      {"basis", one.basis},      {"shells", shells}};
}

system_of_functions system_from(const nlohmann::ordered_json& from) {
  system_of_functions out;
  out.of.name = from.at("name").get<std::string>();
  out.of.charge = from.at("charge").get<int>();
  out.of.multiplicity = from.at("multiplicity").get<int>();
  out.basis = from.at("basis").get<std::string>();
  for (const auto& a : from.at("atoms"))
    out.of.atoms.push_back({a.at("number").get<int>(), a.at("at").get<std::array<double, 3>>()});
  require(!out.of.atoms.empty(), "there are no atoms");
  for (const atom& a : out.of.atoms) require(a.number >= 1 && a.number <= highest_number, "there is no such element");
  for (const auto& s : from.at("shells")) out.shells.push_back(shell_from(s, out.of));
  require(!out.shells.empty(), "there are no basis functions");
  return out;
}

std::string_view word_of(reference kind) {
  return std::ranges::find(reference_words, kind, &std::pair<reference, const char*>::first)->second;
}

reference reference_from(const std::string& word) {
  const auto found = std::ranges::find(reference_words, word, &std::pair<reference, const char*>::second);
  if (found == reference_words.end()) throw std::invalid_argument("there is no reference '" + word + "'");
  return found->first;
}

bool have_same_elements(const molecule& one, const molecule& other) {
  return std::ranges::equal(one.atoms, other.atoms, {}, &atom::number, &atom::number);
}

bool have_same_shells(const std::vector<shell>& one, const std::vector<shell>& other) {
  return std::ranges::equal(one, other, [](const shell& a, const shell& b) {
    return a.momentum == b.momentum && a.spherical == b.spherical && a.exponents == b.exponents &&
           a.coefficients == b.coefficients && a.atom == b.atom;
  });
}

std::string difference_between(const system_of_functions& one, const system_of_functions& other) {
  if (!have_same_elements(one.of, other.of)) return "the atoms are others";
  if (one.of.charge != other.of.charge)
    return fmt::format("its charge is {}, and here it is {}", one.of.charge, other.of.charge);
  if (one.of.multiplicity != other.of.multiplicity)
    return fmt::format("its multiplicity is {}, and here it is {}", one.of.multiplicity, other.of.multiplicity);
  for (std::size_t a = 0; a < one.of.atoms.size(); ++a)
    for (std::size_t x = 0; x < 3; ++x)
      if (!(std::abs(one.of.atoms[a].at[x] - other.of.atoms[a].at[x]) <= 1e-8))
        return fmt::format("atom {} ({}) is at another place", a + 1, symbol_of(one.of.atoms[a].number));
  if (!have_same_shells(one.shells, other.shells))
    return one.basis == other.basis ? fmt::format("its basis {} has other functions", one.basis)
                                    : fmt::format("its basis is {}, and here it is {}", one.basis, other.basis);
  return {};
}

}  // namespace tessera::chemistry
