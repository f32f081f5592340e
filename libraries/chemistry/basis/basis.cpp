#include "libraries/chemistry/basis/basis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "libraries/chemistry/basis/fewer_primitives.hpp"
#include "libraries/chemistry/basis/qcschema.hpp"
#include "libraries/chemistry/basis/shipped_text.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

/// Other names of shipped sets.
struct other_name {
  std::string_view name, usual;
};
constexpr std::array other_names = {
    other_name{"6-31g(d,p)", "6-31g**"}, other_name{"6-31gss", "6-31g**"}, other_name{"cc-pvdz-rifit", "cc-pvdz-ri"},
    other_name{"aug-cc-pvdz-rifit", "aug-cc-pvdz-ri"}, other_name{"cc-pvtz-rifit", "cc-pvtz-ri"}};

std::string elements_of(const basis_set& set) {
  std::vector<std::string_view> symbols;
  symbols.reserve(set.shells_of.size());
  for (const auto& [number, shells] : set.shells_of) symbols.push_back(symbol_of(number));
  return fmt::format("{}", fmt::join(symbols, ", "));
}

/// Of a shipped set, by any of its names.
std::string usual_name(std::string_view name) {
  std::string small = in_small_letters(name);
  const auto names = shipped_basis_names();
  if (std::ranges::find(names, small) != names.end()) return small;
  const auto other = std::ranges::find(other_names, small, &other_name::name);
  if (other != other_names.end()) return std::string(other->usual);
  std::vector<std::string> candidates(names.begin(), names.end());
  for (const other_name& one : other_names) candidates.emplace_back(one.name);
  const std::string nearest = suggest(small, candidates);
  throw error(error_kind::input, fmt::format("no basis set has the name {}", in_quotes(name)), {},
              fmt::format("{}there are {}", nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest),
                          fmt::join(names, ", ")));
}

}  // namespace

std::span<const std::string> shipped_basis_names() {
  static const std::array<std::string, 9> names = {
      "sto-3g", "3-21g", "6-31g**", "cc-pvdz", "cc-pvtz", "aug-cc-pvdz", "cc-pvdz-ri", "cc-pvtz-ri", "aug-cc-pvdz-ri"};
  return names;
}

basis_set shipped_basis(std::string_view name) {
  const std::string usual = usual_name(name);
  return parse_gaussian94(shipped_text(usual == "6-31g**" ? "6-31gss" : usual), usual);
}

std::vector<shell> basis_for(const molecule& of, const basis_set& set) {
  std::vector<shell> shells;
  for (std::size_t i = 0; i < of.atoms.size(); ++i) {
    const atom& one = of.atoms[i];
    const auto found = set.shells_of.find(one.number);
    if (found == set.shells_of.end())
      throw error(error_kind::input, fmt::format("the basis set {} lacks {}", set.name, symbol_of(one.number)),
                  fmt::format("atom {}{}{}", i + 1, of.name.empty() ? "" : " of ", of.name),
                  fmt::format("it has {}", elements_of(set)));
    for (shell each : found->second) {
      each.atom = i;
      each.at = one.at;
      shells.push_back(std::move(each));
    }
  }
  return shells;
}

std::vector<shell> basis_for(const molecule& of, std::string_view name) { return basis_for(of, shipped_basis(name)); }

void require_orbital_set(std::string_view name) {
  if (name.ends_with("-ri") || name.ends_with("-rifit"))
    throw error(error_kind::usage, fmt::format("'{}' is a set for density fitting, and not for orbitals", name),
                "--basis", fmt::format("such as {}", name.substr(0, name.rfind("-ri"))));
}

bool names_basis_file(std::string_view name_or_file) {
  const std::string small = in_small_letters(name_or_file);
  return small.find('/') != small.npos || small.ends_with(".gbs") || small.ends_with(".g94") ||
         small.ends_with(".json");
}

std::vector<shell> orbital_basis_for(const molecule& of, const std::string& name_or_file) {
  if (!names_basis_file(name_or_file)) {
    require_orbital_set(name_or_file);
    return with_fewer_primitives(basis_for(of, name_or_file));
  }
  if (in_small_letters(name_or_file).ends_with(".json"))
    return with_fewer_primitives(read_qcschema_basis(name_or_file, of));
  return with_fewer_primitives(basis_for(of, read_gaussian94(name_or_file)));
}

}  // namespace tessera::chemistry
