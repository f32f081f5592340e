#include "apps/chem/formula.hpp"

#include <fmt/format.h>

#include <map>

#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::apps {

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
