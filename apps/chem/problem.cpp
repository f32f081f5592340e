#include "apps/chem/problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "apps/chem/molecule_file.hpp"
#include "core/base/error.hpp"
#include "libraries/chemistry/basis/basis.hpp"

namespace tessera::apps {
namespace {

/// Names as users write them: "CCSD(T)", "hf".
std::optional<sial::correlation_method> correlation_of(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name == "scf" || name == "hf") return std::nullopt;
  const std::map<std::string, sial::correlation_method> known{{"mp2", sial::correlation_method::mp2},
                                                              {"ccsd", sial::correlation_method::ccsd},
                                                              {"ccsd(t)", sial::correlation_method::ccsd_t},
                                                              {"ccsd-t", sial::correlation_method::ccsd_t}};
  const auto found = known.find(name);
  if (found == known.end())
    throw error(error_kind::usage, fmt::format("there is no method '{}'", name), "--method",
                "one of scf, mp2, ccsd, ccsd(t)");
  return found->second;
}

chemistry::reference reference_of(const chem_options& o, const chemistry::molecule& m) {
  if (o.reference == "auto") return m.multiplicity == 1 ? chemistry::reference::rhf : chemistry::reference::uhf;
  return o.reference == "rhf"   ? chemistry::reference::rhf
         : o.reference == "uhf" ? chemistry::reference::uhf
                                : chemistry::reference::rohf;
}

}  // namespace

std::string name_of(chemistry::reference r) {
  return r == chemistry::reference::rhf ? "RHF" : r == chemistry::reference::uhf ? "UHF" : "ROHF";
}

problem read_problem(const chem_options& o) {
  problem p;
  p.method = correlation_of(o.method);
  for (const auto& [name, value] :
       {std::pair("--convergence", o.convergence), {"--level-shift", o.level_shift}, {"--damping", o.damping}})
    if (!std::isfinite(value)) throw error(error_kind::usage, "a number is expected", name);
  const std::optional<chemistry::length_unit> unit = o.unit == "auto" ? std::nullopt
                                                     : o.unit == "bohr"
                                                         ? std::optional(chemistry::length_unit::bohr)
                                                         : std::optional(chemistry::length_unit::angstrom);
  p.of = read_molecule(o.file, unit, o.charge, o.multiplicity);
  p.kind = reference_of(o, p.of);
  if (p.kind == chemistry::reference::rhf && p.of.multiplicity != 1)
    throw error(error_kind::usage,
                fmt::format("rhf is for closed shells, and the multiplicity is {}", p.of.multiplicity), "--reference",
                "uhf or rohf");
  p.frozen = o.frozen_orbitals ? *o.frozen_orbitals : o.frozen_core ? chemistry::frozen_core_orbitals(p.of) : 0;
  if (const int occupied = (chemistry::electrons(p.of) + p.of.multiplicity - 1) / 2; p.method && p.frozen >= occupied)
    throw error(error_kind::usage, fmt::format("{} orbitals are frozen, and {} are occupied", p.frozen, occupied),
                "--frozen-orbitals", "correlation needs at least one that is not");
  p.over = chemistry::make_integrals(chemistry::orbital_basis_for(p.of, o.basis), p.of);
  return p;
}

}  // namespace tessera::apps
