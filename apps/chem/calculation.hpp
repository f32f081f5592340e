#pragma once
// One calculation of tessera chem: a field, and what is correlated.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "apps/chem/checkpoints.hpp"
#include "apps/chem/convergence.hpp"
#include "apps/chem/journal.hpp"
#include "apps/chem/memory_plan.hpp"
#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"
#include "libraries/chemistry/scf/fock.hpp"
#include "libraries/chemistry/scf/kept_integrals.hpp"

namespace tessera::apps {

class calculation {
 public:
  /// The options outlive it. Throws tessera::error as checkpoints.
  calculation(const chem_options& o, problem what)
      : m_options(o),
        m_journal(o),
        m_problem(std::move(what)),
        m_checkpoints(m_options, m_problem, m_journal, m_report) {}
  /// The exit code. Throws tessera::error: numerical for what has not converged, memory for what does not fit.
  int run();

 private:
  int compute();
  chemistry::scf_settings scf_settings() const;
  chemistry::scf_result self_consistent_field(session& s);
  bool integrals_may_stay() const;
  const chemistry::integrals& integrals_for_programs();
  sial::correlation_settings correlation_settings() const;
  sial::correlation_result run_within_memory(sial::correlation_job& job,
                                             const std::function<void(const sial::correlation_result&)>& reached) const;
  void require_disk(const session& s) const;
  void tell_peak();
  [[noreturn]] void refuse() const;
  void correlate(session& s, const chemistry::scf_result& scf);

  const chem_options& m_options;
  const journal m_journal;
  const problem m_problem;
  unsigned m_workers = 1;
  report m_report;
  checkpoints m_checkpoints;
  convergence m_convergence{m_journal};
  memory_plan m_plan;
  std::unique_ptr<chemistry::fock_builder> m_builder;  // as long as its integrals are of use
  std::unique_ptr<chemistry::kept_integrals> m_kept;   // they, for the programs
  std::string m_failure;                               // what has not converged
};

}  // namespace tessera::apps
