#include "apps/chem/stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tessera::apps {
namespace {

namespace ch = chemistry;

constexpr int max_descents = 8;

}  // namespace

/// By itself where it costs no integrals, and those that are kept make it a matter of some Fock matrices.
bool stability_check::is_wanted() const {
  if (m_options.stability == "off") return false;
  return m_options.stability != "auto" || m_builder.keeps_all();
}

ch::scf_result stability_check::run(
    ch::scf_result scf, const std::function<ch::scf_result(const std::array<std::vector<double>, 2>&)>& solve) {
  if (!is_wanted()) {
    if (m_options.stability == "auto")
      m_report.add("", "stability", "not checked, since it needs all integrals some twenty times: --stability check",
                   nullptr);
    return scf;
  }
  ch::curvature found = ch::lowest_curvature(scf, m_problem.kind, ch::orbital_rotations::internal, m_builder);
  int followed = 0;
  while (m_options.stability == "follow" && found.is_descent() && followed < max_descents) {
    m_journal.line("a saddle point at {:.10f} hartree: lowest eigenvalue {:.5f}; going down", scf.energy, found.lowest);
    ch::scf_result lower = solve(ch::lower_densities(scf, m_problem.kind, found, *m_problem.over, m_builder));
    ++followed;
    if (!lower.converged) return lower;
    const bool is_lower = lower.energy < scf.energy - 1e-9;
    if (is_lower) scf = std::move(lower);
    if (!is_lower) break;
    found = ch::lowest_curvature(scf, m_problem.kind, ch::orbital_rotations::internal, m_builder);
  }
  tell(scf, found, followed);
  if (m_problem.kind == ch::reference::rhf) tell_of_uhf(scf);
  return scf;
}

void stability_check::tell(const ch::scf_result& scf, const ch::curvature& found, int followed) {
  const bool minimum = !found.is_descent();
  std::string text = found.direction[0].empty() ? "a minimum: no orbital can turn"
                     : minimum ? fmt::format("a minimum: lowest eigenvalue {:.5f} hartree", found.lowest)
                               : fmt::format("A SADDLE POINT: lowest eigenvalue {:.5f} hartree; there is a lower {}",
                                             found.lowest, name_of(m_problem.kind));
  if (minimum && !found.converged) text += fmt::format(", known to {:.1e} only", found.residual);
  if (followed > 0) text += fmt::format("; reached in {} descents", followed);
  m_report.add("", "stability", text, nullptr);
  m_report.note("scf_is_minimum", minimum);
  m_report.note("stability_eigenvalue", found.lowest);
  m_report.note("stability_fock_matrices", found.fock_matrices);
  if (followed > 0) m_report.note("stability_descents", followed);
  if (minimum) return;
  fmt::print(stderr,
             "warning: {:.10f} hartree is the energy of a saddle point, and not of the lowest {}: lowest eigenvalue "
             "{:.5f} hartree\n  hint: {}\n",
             scf.energy, name_of(m_problem.kind), found.lowest,
             m_options.stability == "follow" ? "no lower one was found along it; try another --guess"
                                             : "--stability follow goes down from it");
}

void stability_check::tell_of_uhf(const ch::scf_result& scf) {
  const ch::curvature found = ch::lowest_curvature(scf, m_problem.kind, ch::orbital_rotations::triplet, m_builder);
  m_report.note("stability_eigenvalue_uhf", found.lowest);
  if (!found.is_descent()) return;
  m_report.add("", "",
               fmt::format("UHF has a lower energy: lowest eigenvalue towards it {:.5f} hartree; "
                           "--reference uhf --stability follow",
                           found.lowest),
               nullptr);
  m_journal.line("UHF has a lower energy than this RHF: lowest eigenvalue {:.5f} hartree", found.lowest);
}

}  // namespace tessera::apps
