#include "apps/chem/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

/// Of all threads of the process.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

void convergence::begin_field(const std::string& kind) const {
  m_journal.line("{}  iteration            energy       change     gradient", kind);
}

void convergence::add(const chemistry::scf_iteration& now, double core_energy) {
  const double energy = now.energy + core_energy;
  m_journal.line("      {:>8}  {:>16.10f}  {:>11.2e}  {:>11.2e}", now.number, energy, now.change, now.gradient);
  m_field.push_back({{"energy", energy}, {"gradient", now.gradient}});
  m_field_line.points.emplace_back(now.number, std::log10(std::max(now.gradient, 1e-16)));
}

void convergence::begin_correlation() {
  m_last = clock::now();
  m_used = processor_seconds();
}

void convergence::add(const sial::iteration_report& now) {
  if (m_correlation.empty()) m_journal.line("CCSD iteration       correlation     residual         time");
  const double seconds = std::chrono::duration<double>(clock::now() - m_last).count();
  m_journal.line("      {:>8}  {:>16.10f}  {:>11.2e}  {:>11}", now.number, now.energy, now.residual,
                 format_seconds(seconds));
  const double before = m_used;
  begin_correlation();  // the next one
  m_correlation.push_back({{"correlation_energy", now.energy},
                           {"residual", now.residual},
                           {"seconds", seconds},
                           {"processor_seconds", m_used - before}});
  m_correlation_line.points.emplace_back(now.number, std::log10(std::max(now.residual, 1e-16)));
}

void convergence::note_field(report& to) const { to.note("scf_history", m_field); }
void convergence::note_correlation(report& to) const { to.note("ccsd_history", m_correlation); }

void convergence::draw(session& on) const {
  line_plot p{"Convergence", "iteration", "log10 of the gradient of SCF, of the residual of CCSD"};
  plot_line scf = m_field_line, cc = m_correlation_line;
  scf.label = "SCF";
  cc.label = "CCSD";
  cc.colour = 1;
  p.lines.push_back(scf);
  if (!cc.points.empty()) p.lines.push_back(cc);
  on.add_to_page("<section><h2>Convergence</h2>" + to_svg(p) + "</section>");
}

}  // namespace tessera::apps
