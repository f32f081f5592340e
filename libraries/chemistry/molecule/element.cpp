#include "libraries/chemistry/molecule/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::array<std::string_view, last_element> symbols = {
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl",
    "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se",
    "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb",
    "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er",
    "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At",
    "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No",
    "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

int element_number(std::string_view symbol) {
  if (const int number = find_element(symbol)) return number;
  throw error(error_kind::input, fmt::format("no element has the symbol {}", in_quotes(symbol)), {},
              hint_for_element(symbol));
}

int find_element(std::string_view symbol) noexcept {
  const auto found = std::ranges::find_if(symbols, [&](std::string_view one) {
    return std::ranges::equal(one, symbol, [](char a, char b) { return small(a) == small(b); });
  });
  return found == symbols.end() ? 0 : static_cast<int>(found - symbols.begin()) + 1;
}

std::string_view symbol_of(int number) {
  if (number < 1 || number > last_element)
    throw error(error_kind::usage, fmt::format("no element has the number {}", number), {},
                fmt::format("elements have numbers from 1 to {}", last_element));
  return symbols[static_cast<std::size_t>(number) - 1];
}

std::string hint_for_element(std::string_view symbol) {
  std::string usual = in_small_letters(symbol.substr(0, 8));
  if (!usual.empty() && usual[0] >= 'a' && usual[0] <= 'z') usual[0] = static_cast<char>(usual[0] - 'a' + 'A');
  const std::vector<std::string> candidates(symbols.begin(), symbols.end());
  const std::string nearest = suggest(usual, candidates);
  return nearest.empty() ? "symbols of elements are H, He, ... Og" : fmt::format("did you mean '{}'?", nearest);
}

}  // namespace tessera::chemistry
