#include "apps/chem/problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/job/job.hpp"

namespace tessera::apps {
namespace {

std::optional<sial::correlation_method> correlation_of(const std::string& name) {
  const std::string usual = chemistry::usual_method(name);
  if (usual == "mp2") return sial::correlation_method::mp2;
  if (usual == "ccsd") return sial::correlation_method::ccsd;
  if (usual == "ccsd(t)") return sial::correlation_method::ccsd_t;
  return std::nullopt;
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

problem problem_of(const chem_options& o, chemistry::molecule of) {
  problem p;
  p.method = correlation_of(o.method);
  for (const auto& [name, value] :
       {std::pair("--convergence", o.convergence), {"--level-shift", o.level_shift}, {"--damping", o.damping}})
    if (!std::isfinite(value)) throw error(error_kind::usage, "a number is expected", name);
  p.of = std::move(of);
  p.kind = reference_of(o, p.of);
  if (p.kind == chemistry::reference::rhf && p.of.multiplicity != 1)
    throw error(error_kind::usage,
                fmt::format("rhf is for closed shells, and the multiplicity is {}", p.of.multiplicity), "--reference",
                "uhf or rohf");
  p.frozen = o.frozen_orbitals ? *o.frozen_orbitals : o.frozen_core ? chemistry::frozen_core_orbitals(p.of) : 0;
  if (const int occupied = (chemistry::electrons(p.of) + p.of.multiplicity - 1) / 2; p.method && p.frozen >= occupied)
    throw error(error_kind::usage, fmt::format("{} orbitals are frozen, and {} are occupied", p.frozen, occupied),
                "--frozen-orbitals", "correlation needs at least one that is not");
  std::vector<chemistry::shell> shells = chemistry::orbital_basis_for(p.of, o.basis);
  if (o.functions != "auto")
    for (chemistry::shell& one : shells) one.spherical = o.functions == "spherical";
  p.over = chemistry::make_integrals(std::move(shells), p.of);
  return p;
}

}  // namespace tessera::apps
