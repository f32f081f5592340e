#pragma once
// The iterations of a calculation: lines while it runs, the JSON, and a picture.
#include <chrono>
#include <nlohmann/json.hpp>

#include "apps/chem/journal.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/plot.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"

namespace tessera::apps {

class convergence {
 public:
  /// The journal outlives it.
  explicit convergence(const journal& told) : m_journal(told) {}

  /// A field begins. @param kind  "RHF"
  void begin_field(const std::string& kind) const;
  /// @param core_energy  hartree, to be added
  void add(const chemistry::scf_iteration& now, double core_energy);
  /// Coupled cluster begins: its first iteration counts from here.
  void begin_correlation();
  void add(const sial::iteration_report& now);

  void note_field(report& to) const;
  void note_correlation(report& to) const;
  /// For the page of --report.
  void draw(session& on) const;

 private:
  using clock = std::chrono::steady_clock;
  const journal& m_journal;
  nlohmann::ordered_json m_field = nlohmann::ordered_json::array(), m_correlation = nlohmann::ordered_json::array();
  plot_line m_field_line, m_correlation_line;
  clock::time_point m_last;
  double m_used = 0;  // seconds of the processor up to then
};

}  // namespace tessera::apps
