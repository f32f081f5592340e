#include "apps/chem/degenerate_cut.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

namespace tessera::apps {
namespace {

constexpr double same_energy = 1e-4;  // hartree, from one orbital to the next

/// What a boundary behind the first `below` orbitals cuts. Energies ascend.
std::optional<degenerate_cut> cut_at(const std::vector<double>& energies, std::size_t below) {
  if (below == 0 || below >= energies.size() || energies[below] - energies[below - 1] >= same_energy)
    return std::nullopt;
  std::size_t first = below - 1, end = below + 1;
  while (first > 0 && energies[first] - energies[first - 1] < same_energy) --first;
  while (end < energies.size() && energies[end] - energies[end - 1] < same_energy) ++end;
  degenerate_cut found;
  found.first = first + 1;
  found.below = below - first;
  for (std::size_t k = first; k < end; ++k) found.energies.push_back(energies[k]);
  return found;
}

std::vector<std::size_t> orbitals_of(const degenerate_cut& c) {
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < c.energies.size(); ++k) numbers.push_back(c.first + k);
  return numbers;
}

std::string words(const degenerate_cut& c) {
  return fmt::format("the boundary of the {} takes {} of {}{}orbitals of the same energy: {} at {:.6f} hartree",
                     c.boundary == "occupied" ? "occupied orbitals" : c.boundary, c.below, c.energies.size(),
                     c.spin.empty() ? " " : " " + c.spin + " ", fmt::join(orbitals_of(c), ", "),
                     fmt::join(c.energies, ", "));
}

/// How to treat all of them alike: some orbitals have to stay.
std::string remedy(const degenerate_cut& c, const chemistry::scf_result& scf) {
  const std::size_t before = c.first - 1, behind = before + c.energies.size();
  const auto occupied = static_cast<std::size_t>(scf.occupied[1]);
  if (c.boundary == "frozen core")
    return behind < occupied ? fmt::format("--frozen-orbitals {} or {}", before, behind)
                             : fmt::format("--frozen-orbitals {}", before);
  if (c.boundary == "frozen virtuals")
    return before > static_cast<std::size_t>(scf.occupied[0])
               ? fmt::format("--frozen-virtual {} or {}", scf.orbitals - behind, scf.orbitals - before)
               : fmt::format("--frozen-virtual {}", scf.orbitals - behind);
  return "one determinant is a poor start; see --multiplicity and --charge";
}

}  // namespace

std::vector<degenerate_cut> degenerate_cuts(const chemistry::scf_result& scf, int frozen_core, int frozen_virtual) {
  std::vector<degenerate_cut> all;
  for (std::size_t spin = 0; spin < 2; ++spin) {
    const std::vector<double>& energies = scf.energies[spin];
    const auto look = [&](const char* boundary, std::size_t below) {
      std::optional<degenerate_cut> found = cut_at(energies, below);
      if (!found) return;
      found->boundary = boundary;
      found->spin = scf.energies[1].empty() ? "" : spin == 0 ? "alpha" : "beta";
      all.push_back(std::move(*found));
    };
    look("frozen core", static_cast<std::size_t>(frozen_core));
    look("occupied", static_cast<std::size_t>(scf.occupied[spin]));
    if (const auto left_out = static_cast<std::size_t>(frozen_virtual); left_out > 0 && left_out < energies.size())
      look("frozen virtuals", energies.size() - left_out);
  }
  return all;
}

void warn_of_degenerate_cuts(const chem_options& o, const problem& p, const chemistry::scf_result& scf, report& to) {
  const bool some_are_left_out = p.method || !o.fcidump.empty();
  auto rows = nlohmann::ordered_json::array();
  for (const degenerate_cut& c :
       degenerate_cuts(scf, some_are_left_out ? p.frozen : 0, some_are_left_out ? o.frozen_virtual : 0)) {
    fmt::print(stderr, "warning: {}; the energy depends on which of them it takes\n  hint: {}\n", words(c),
               remedy(c, scf));
    to.add("", "degenerate", words(c), nullptr);
    rows.push_back({{"boundary", c.boundary},
                    {"spin", c.spin.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(c.spin)},
                    {"orbitals", orbitals_of(c)},
                    {"below", c.below},
                    {"energies", c.energies}});
  }
  if (!rows.empty()) to.note("degenerate_cuts", rows);
}

}  // namespace tessera::apps
