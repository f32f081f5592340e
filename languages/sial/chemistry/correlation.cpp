#include "languages/sial/chemistry/correlation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <variant>

#include "core/base/error.hpp"
#include "languages/sial/chemistry/programs.hpp"
#include "libraries/lapack/lapack.hpp"

namespace tessera::sial {
namespace {

init_data data_of(const chemistry::integrals& over, const chemistry::scf_result& scf, const correlation_settings& how) {
  init_data data = orbital_data(over, scf, how.orbitals);
  data.ints["direct_ladder"] = how.direct_ladder ? 1 : 0;
  data.ints["max_iterations"] = how.max_iterations;
  data.scalars["energy_threshold"] = how.energy_threshold;
  data.scalars["residual_threshold"] = how.residual_threshold;
  return data;
}

/// Null where no amplitudes are kept or given.
std::shared_ptr<amplitude_port> port_of(init_data& data, const correlation_settings& how) {
  if (how.method == correlation_method::mp2 || (!how.keeping.begin && !how.keeping.keep)) return nullptr;
  return std::make_shared<amplitude_port>(data, how.keeping);
}

std::shared_ptr<triples_port> triples_port_of(init_data& data, const correlation_settings& how) {
  if (how.method != correlation_method::ccsd_t || !how.keeping_triples) return nullptr;
  return std::make_shared<triples_port>(data, *how.keeping_triples);
}

bool is_closed(const chemistry::scf_result& scf, const correlation_settings& how) {
  return scf.fock[1].empty() && !how.orbitals.spin_orbitals;
}

std::vector<job_program> programs_of(bool closed, correlation_method method) {
  std::vector<const char*> names{closed ? "mp2.sialx" : "ump2.sialx"};
  if (method != correlation_method::mp2) names = {closed ? "rccsd.sialx" : "uccsd.sialx"};
  if (method == correlation_method::ccsd_t) names.push_back(closed ? "triples.sialx" : "utriples.sialx");
  std::vector<job_program> programs;
  std::string messages;
  for (const char* const name : names)
    programs.push_back(
        compile_program(name, chemistry_reader(), {}, [&messages](const std::string& text) { messages += text; }));
  return programs;
}

}  // namespace

chemistry::scf_result unknown_field(const chemistry::molecule& of, chemistry::reference kind, std::size_t functions,
                                    std::size_t orbitals) {
  chemistry::scf_result field;
  field.functions = functions;
  field.orbitals = orbitals;
  const int all = chemistry::electrons(of), unpaired = of.multiplicity - 1;
  field.occupied = {(all + unpaired) / 2, (all - unpaired) / 2};
  const auto zeros = [&](std::size_t columns) { return std::vector<double>(functions * columns, 0.0); };
  for (std::size_t spin = 0; spin < 2; ++spin) {
    if (spin == 0 || kind == chemistry::reference::uhf) field.c[spin] = zeros(orbitals);
    if (spin == 0 || kind != chemistry::reference::rhf) field.fock[spin] = zeros(functions);
  }
  return field;
}

std::vector<program_estimate> estimate_correlation(const chemistry::integrals& over, const chemistry::scf_result& field,
                                                   const correlation_settings& how) {
  const init_data data = data_of(over, field, how);
  kept_estimates kept;
  std::vector<program_estimate> all;
  for (const job_program& p : programs_of(is_closed(field, how), how.method))
    all.push_back(estimate_program(p, data, {how.programs.workers}, kept));
  return all;
}

correlation_job::correlation_job(runtime& rt, const chemistry::integrals& over, const chemistry::scf_result& scf,
                                 const correlation_settings& how, std::function<void(const iteration_report&)> told)
    : m_settings(how),
      m_closed(is_closed(scf, how)),
      m_data(data_of(over, scf, how)),
      m_labels(orbital_labels(scf, how.orbitals)),
      m_port(port_of(m_data, how)),
      m_triples(triples_port_of(m_data, how)),
      m_job(rt, m_data, m_instructions, m_settings.programs, [](const std::string&) {}) {
  if (m_port) {
    m_iterations = m_port->restored().iteration;
    m_change = m_port->restored().change;
  }
  m_instructions.add(chemistry_instructions(
      &over,
      [this, told = std::move(told)](const iteration_report& now) {
        m_iterations = now.number;
        m_change = now.energy - std::exchange(m_energy, now.energy);
        if (told) told(now);
      },
      m_port, m_triples));
  m_programs = programs_of(m_closed, how.method);
}

double correlation_job::number(const std::string& label) const {
  const auto found = m_job.items().find(label);
  const double* const value = found == m_job.items().end() ? nullptr : std::get_if<double>(&found->second);
  if (value == nullptr) throw error(error_kind::internal, fmt::format("a program has not kept '{}'", label));
  return *value;
}

correlation_result correlation_job::run(const std::function<void(const correlation_result&)>& done) {
  correlation_result r;
  r.programs.push_back(m_job.run(m_programs.front()));
  r.mp2_opposite_spin = number("mp2_opposite_spin");
  r.mp2_same_spin = number("mp2_energy") - r.mp2_opposite_spin;
  if (m_settings.method == correlation_method::mp2) {
    if (done) done(r);
    return r;
  }
  r.ccsd = number("ccsd_energy");
  r.residual = number("ccsd_residual");
  r.converged = number("ccsd_converged") != 0;
  r.iterations = m_iterations;
  r.change = m_change;
  note_diagnostics(r);
  note_amplitudes(r);
  if (done) done(r);
  if (m_settings.method == correlation_method::ccsd_t && r.converged) {
    r.programs.push_back(m_job.run(m_programs.back()));
    r.triples = number("triples_energy");
    if (done) done(r);
  }
  return r;
}

void correlation_job::note_amplitudes(correlation_result& to) const {
  constexpr std::size_t count = 10;
  to.largest_singles = largest_amplitudes(m_job.items().at("t1"), m_data, m_labels, count);
  to.largest_doubles = largest_amplitudes(m_job.items().at("t2"), m_data, m_labels, count);
}

void correlation_job::note_diagnostics(correlation_result& to) const {
  if (!m_closed) return;  // they are defined for closed shells
  const auto found = m_job.items().find("t1");
  const auto* const t1 = std::get_if<kept_values>(&found->second);
  const auto occupied = static_cast<std::size_t>(m_data.ints.at("occupied"));
  const std::size_t empty = t1->values.size() / occupied;
  double sum = 0;
  std::vector<double> square(occupied * occupied, 0.0), values(occupied);
  for (const double t : t1->values) sum += t * t;
  lapack::dgemm(true, false, static_cast<int>(occupied), static_cast<int>(occupied), static_cast<int>(empty),
                t1->values.data(), t1->values.data(), square.data());
  to.t1_diagnostic = std::sqrt(sum / (2.0 * static_cast<double>(occupied)));
  if (lapack::dsyev(static_cast<int>(occupied), square.data(), values.data()) == 0)
    to.d1_diagnostic = std::sqrt(std::max(0.0, values.back()));
}

}  // namespace tessera::sial
