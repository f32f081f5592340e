#include "apps/chem/problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/chem/formula.hpp"
#include "core/base/error.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/basis/qcschema.hpp"
#include "libraries/chemistry/exchange/fcidump.hpp"
#include "libraries/chemistry/exchange/model_integrals.hpp"
#include "libraries/chemistry/job/job.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

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

void require_numbers(const chem_options& o) {
  for (const auto& [name, value] : {std::pair("--convergence", o.convergence),
                                    {"--level-shift", o.level_shift},
                                    {"--damping", o.damping},
                                    {"--checkpoint-interval", o.checkpoint_interval}})
    if (!std::isfinite(value)) throw error(error_kind::usage, "a number is expected", name);
}

/// That the reference suits the spin, and that there is something to correlate.
void require_possible(const problem& p) {
  if (p.kind == chemistry::reference::rhf && p.of.multiplicity != 1)
    throw error(error_kind::usage,
                fmt::format("rhf is for closed shells, and the multiplicity is {}", p.of.multiplicity), "--reference",
                "uhf or rohf");
  if (const int occupied = (chemistry::electrons(p.of) + p.of.multiplicity - 1) / 2; p.method && p.frozen >= occupied)
    throw error(error_kind::usage, fmt::format("{} orbitals are frozen, and {} are occupied", p.frozen, occupied),
                "--frozen-orbitals", "correlation needs at least one that is not");
}

}  // namespace

std::string name_of(chemistry::reference r) {
  return r == chemistry::reference::rhf ? "RHF" : r == chemistry::reference::uhf ? "UHF" : "ROHF";
}

problem problem_of(const chem_options& o, chemistry::molecule of) {
  problem p;
  p.method = correlation_of(o.method);
  require_numbers(o);
  p.of = std::move(of);
  p.title = formula_of(p.of);
  p.kind = reference_of(o, p.of);
  p.frozen = o.frozen_orbitals ? *o.frozen_orbitals : o.frozen_core ? chemistry::frozen_core_orbitals(p.of) : 0;
  require_possible(p);
  std::vector<chemistry::shell> shells = o.own_basis.empty()
                                             ? chemistry::orbital_basis_for(p.of, o.basis)
                                             : chemistry::parse_qcschema_basis(o.own_basis, o.file, p.of);
  if (o.functions != "auto")
    for (chemistry::shell& one : shells) one.spherical = o.functions == "spherical";
  p.over = chemistry::make_integrals(std::move(shells), p.of);
  return p;
}

problem model_problem_of(const chem_options& o) {
  for (const char* const option : {"--basis", "--functions", "--charge", "--multiplicity", "--unit", "--frozen-core"})
    if (o.of->is_given(option))
      throw error(error_kind::usage, fmt::format("{} is for molecules, and this is a Hamiltonian", option), o.file,
                  "NELEC and MS2 of the file say the electrons; --frozen-orbitals leaves out orbitals");
  if (o.of->is_given("--guess") && o.guess != "core")
    throw error(error_kind::usage, fmt::format("there is no guess '{}' without atoms", o.guess), "--guess",
                "core; without it the first orbitals of the file are occupied");
  problem p;
  p.method = correlation_of(o.method);
  require_numbers(o);
  auto over = std::make_unique<chemistry::model_integrals>(chemistry::read_fcidump(o.file));
  p.of = over->nuclei();
  p.title = std::filesystem::path(o.file).filename().string();
  p.core_energy = over->given().core_energy;
  p.is_model = true;
  p.over = std::move(over);
  p.kind = reference_of(o, p.of);
  if (p.over->spins_are_apart()) {
    if (o.reference != "auto" && o.reference != "uhf")
      throw error(error_kind::usage, fmt::format("the file has integrals of each spin, and {} has none", o.reference),
                  "--reference", "uhf");
    p.kind = chemistry::reference::uhf;
  }
  p.frozen = o.frozen_orbitals.value_or(0);
  require_possible(p);
  return p;
}

bool is_model_file(const std::string& file) {
  const std::string name = chemistry::in_small_letters(std::filesystem::path(file).filename().string());
  const auto ends = [&](const char* with) { return name.ends_with(with); };
  return ends(".fcidump") ||
         (name.starts_with("fcidump") && !ends(".xyz") && !ends(".zmat") && !ends(".toml") && !ends(".json"));
}

}  // namespace tessera::apps
