#include "apps/chem/energies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tessera::apps {
namespace {

std::vector<std::string> names_of(const std::vector<sial::orbital_label>& orbitals) {
  std::vector<std::string> names;
  for (const sial::orbital_label& one : orbitals) names.push_back(sial::to_text(one));
  return names;
}

/// A line for each; all have one key.
void report_amplitudes(const std::string& key, const std::string& label, const std::vector<sial::amplitude>& all,
                       report& to) {
  auto rows = nlohmann::ordered_json::array();
  for (const sial::amplitude& one : all) {
    const std::vector<std::string> from = names_of(one.from), into = names_of(one.to);
    to.add("", rows.empty() ? label : "",
           fmt::format("{:>9.5f}  {} -> {}", one.value, fmt::join(from, " "), fmt::join(into, " ")), nullptr);
    rows.push_back({{"value", one.value}, {"from", from}, {"to", into}});
  }
  to.note(key, rows);
}

}  // namespace

void report_problem(const chem_options& o, const problem& p, report& to) {
  if (p.is_model) {
    to.add("integrals", "integrals", o.file);
    to.add("molecule", "Hamiltonian",
           fmt::format("{} electrons, multiplicity {}, core {:.10f} hartree", chemistry::electrons(p.of),
                       p.of.multiplicity, p.core_energy),
           p.title);
    to.note("nuclear_repulsion", p.core_energy);
    to.add("basis", "basis",
           p.over->spins_are_apart() ? fmt::format("{} orbitals of each spin", p.over->functions() / 2)
                                     : fmt::format("{} orbitals", p.over->functions()),
           "orbitals");
    return;
  }
  to.add("integrals", "integrals", std::string(chemistry::integrals_library()));
  to.add(
      "molecule", "molecule",
      fmt::format("{}: {} atoms, {} electrons, multiplicity {}, repulsion of nuclei {:.10f} hartree", p.title,
                  p.of.atoms.size(), chemistry::electrons(p.of), p.of.multiplicity, chemistry::nuclear_repulsion(p.of)),
      p.title);
  to.note("nuclear_repulsion", chemistry::nuclear_repulsion(p.of));
  to.add("basis", "basis", fmt::format("{}: {} functions in {} shells", o.basis, p.over->functions(), p.over->shells()),
         o.basis);
}

std::string report_field(const problem& p, const chemistry::scf_result& scf, report& to) {
  to.note("scf_converged", scf.converged);
  to.note("scf_iterations", scf.iterations);
  if (!scf.converged) {
    to.note("scf_last_energy", scf.energy);
    return fmt::format("{} has not converged after {} iterations", name_of(p.kind), scf.iterations);
  }
  to.add("scf_energy", name_of(p.kind), fmt::format("{:.10f} hartree", scf.energy), scf.energy);
  // Of a Hamiltonian with integrals of each spin it is not known.
  if (p.kind == chemistry::reference::uhf && !p.over->spins_are_apart())
    to.add("spin_squared", "<S^2>",
           fmt::format("{:.6f}; a pure state has {:.6f}", scf.spin_squared,
                       0.25 * (p.of.multiplicity - 1) * (p.of.multiplicity + 1)),
           scf.spin_squared);
  const auto homo = static_cast<std::size_t>(scf.occupied[0]);
  const std::vector<double>& e = scf.energies[0];
  to.add("", "orbitals",
         homo < e.size() ? fmt::format("{} of {} occupied, highest at {:.6f}, lowest empty at {:.6f} hartree", homo,
                                       e.size(), e[homo - 1], e[homo])
                         : fmt::format("{}, all occupied", e.size()),
         nullptr);
  to.note("orbital_energies", e);
  if (!scf.energies[1].empty()) to.note("orbital_energies_beta", scf.energies[1]);
  if (!p.is_model)
    to.add("dipole", "dipole", fmt::format("{:.6f} {:.6f} {:.6f} e bohr", scf.dipole[0], scf.dipole[1], scf.dipole[2]),
           scf.dipole);
  return {};
}

std::string report_correlation(const problem& p, const sial::correlation_result& c, double reference_energy,
                               report& to) {
  const auto line = [&](const std::string& key, const std::string& label, double correlation) {
    to.add(key, label,
           fmt::format("{:.10f} hartree, of it correlation {:.10f}", reference_energy + correlation, correlation),
           reference_energy + correlation);
    to.note(key + "_correlation", correlation);
  };
  line("mp2_energy", "MP2", c.mp2());
  line("scs_mp2_energy", "SCS-MP2", c.scs_mp2());
  to.note("mp2_same_spin", c.mp2_same_spin);
  to.note("mp2_opposite_spin", c.mp2_opposite_spin);
  if (!c.ccsd) return {};
  to.note("ccsd_converged", c.converged);
  to.note("ccsd_iterations", c.iterations);
  to.note("ccsd_residual", c.residual);
  if (!c.converged) {
    to.note("ccsd_last_correlation", *c.ccsd);
    return fmt::format("CCSD has not converged after {} iterations: its residual is {:.1e}", c.iterations, c.residual);
  }
  line("ccsd_energy", "CCSD", *c.ccsd);
  if (c.triples) {
    to.add("triples", "(T)", fmt::format("{:.10f} hartree", *c.triples), *c.triples);
    line("ccsd_t_energy", "CCSD(T)", *c.ccsd + *c.triples);
  }
  if (!c.largest_doubles.empty()) {  // a checkpoint of energies has none
    report_amplitudes("largest_singles", "largest t1", c.largest_singles, to);
    report_amplitudes("largest_doubles", "largest t2", c.largest_doubles, to);
  }
  if (p.kind != chemistry::reference::rhf) return {};
  to.add("t1_diagnostic", "T1, D1",
         fmt::format("{:.5f}, {:.5f}{}", c.t1_diagnostic, c.d1_diagnostic,
                     c.t1_diagnostic > 0.02 ? ": one determinant may not be enough (T1 above 0.02)" : ""),
         c.t1_diagnostic);
  to.note("d1_diagnostic", c.d1_diagnostic);
  return {};
}

}  // namespace tessera::apps
