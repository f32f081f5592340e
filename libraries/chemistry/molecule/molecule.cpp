#include "libraries/chemistry/molecule/molecule.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::chemistry {
namespace {

constexpr double closest = 0.1;   // bohr; no bond is a tenth as long
constexpr double farthest = 1e9;  // bohr: beyond, differences of coordinates mean nothing

struct noble_gas {
  int number, orbitals;  // doubly occupied ones
};
constexpr std::array<noble_gas, 6> noble_gases = {noble_gas{2, 1},   noble_gas{10, 5},  noble_gas{18, 9},
                                                  noble_gas{36, 18}, noble_gas{54, 27}, noble_gas{86, 43}};

std::int64_t nuclear_charges(const molecule& of) {
  std::int64_t sum = 0;
  for (const atom& one : of.atoms) sum += one.number;
  return sum;
}

double distance(const atom& a, const atom& b) {
  return std::hypot(a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]);
}

[[noreturn]] void refuse(const molecule& of, std::string message, std::string hint = {}) {
  throw error(error_kind::input, std::move(message), of.name, std::move(hint));
}

std::string title(const molecule& of, std::size_t ordinal) {
  return fmt::format("{} {}", symbol_of(of.atoms[ordinal].number), ordinal + 1);
}

void check_atoms(const molecule& of) {
  if (of.atoms.empty()) refuse(of, "the molecule has no atoms");
  for (std::size_t i = 0; i < of.atoms.size(); ++i) {
    const atom& one = of.atoms[i];
    if (one.number < 1 || one.number > last_element)
      refuse(of, fmt::format("atom {} has the number {}, which no element has", i + 1, one.number));
    for (const double coordinate : one.at)
      if (!std::isfinite(coordinate))
        refuse(of, fmt::format("a coordinate of atom {} is not finite", title(of, i)));
      else if (std::abs(coordinate) > farthest)
        refuse(of, fmt::format("atom {} is {:.3g} bohr from the origin", title(of, i), std::abs(coordinate)));
  }
  for (std::size_t i = 0; i < of.atoms.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const double apart = distance(of.atoms[i], of.atoms[j]); apart < closest)
        refuse(of, fmt::format("atoms {} and {} are {:.3g} bohr apart", title(of, j), title(of, i), apart),
               "is one of them given twice, or are the coordinates in another unit?");
}

void check_electrons(const molecule& of) {
  const int count = electrons(of);
  if (count == 0) refuse(of, fmt::format("with charge {} the molecule has no electrons", of.charge));
  if (of.multiplicity < 1)
    refuse(of, fmt::format("the multiplicity is {}", of.multiplicity),
           "it is 2S + 1: 1 for a singlet, 2 for a doublet");
  const int unpaired = of.multiplicity - 1;
  if (unpaired > count)
    refuse(of,
           fmt::format("multiplicity {} needs {} unpaired electrons; there are {}", of.multiplicity, unpaired, count),
           "is the charge right?");
  if ((count - unpaired) % 2 != 0)
    refuse(of, fmt::format("{} electrons do not have multiplicity {}", count, of.multiplicity),
           count % 2 == 0 ? "an even number of electrons has an odd multiplicity: 1, 3 ..."
                          : "an odd number of electrons has an even multiplicity: 2, 4 ...");
}

}  // namespace

int electrons(const molecule& of) {
  const std::int64_t nuclear = nuclear_charges(of), count = nuclear - of.charge;
  if (count < 0)
    refuse(of, fmt::format("the charge is {}, and the nuclei have {} together", of.charge, nuclear),
           "a positive charge is of missing electrons");
  if (count > std::numeric_limits<int>::max()) refuse(of, fmt::format("charge {} is too many electrons", of.charge));
  return static_cast<int>(count);
}

double nuclear_repulsion(const molecule& of) {
  double sum = 0;
  for (std::size_t i = 0; i < of.atoms.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      sum += static_cast<double>(of.atoms[i].number) * of.atoms[j].number / distance(of.atoms[i], of.atoms[j]);
  return sum;
}

int frozen_core_orbitals(const molecule& of) {
  int sum = 0;
  for (const atom& one : of.atoms) {
    int core = 0;
    for (const noble_gas& before : noble_gases)
      if (one.number > before.number) core = before.orbitals;
    sum += core;
  }
  return sum;
}

void check(const molecule& of) {
  check_atoms(of);
  check_electrons(of);
}

}  // namespace tessera::chemistry
