#pragma once
// Whether a field is a minimum, for users.
#include <functional>
#include <optional>
#include <string>

#include "apps/chem/journal.hpp"
#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"
#include "libraries/chemistry/scf/descent.hpp"
#include "libraries/chemistry/scf/fock.hpp"

namespace tessera::apps {

/// Checks converged fields as --stability says, and goes down from saddle points where it is asked to.
class stability_check {
 public:
  /// All outlive it.
  stability_check(const chem_options& o, const problem& p, const journal& told, report& to, chemistry::fock_builder& b)
      : m_options(o), m_problem(p), m_journal(told), m_report(to), m_builder(b) {}

  /// Returns the field, or a lower one that `solve` finds from densities, by spin.
  /// @param solve  a field from these densities
  chemistry::scf_result run(
      chemistry::scf_result scf,
      const std::function<chemistry::scf_result(const std::array<std::vector<double>, 2>&)>& solve);

 private:
  bool is_wanted() const;
  void tell(const chemistry::scf_result& scf, const chemistry::curvature& found, int followed);
  void tell_of_uhf(const chemistry::scf_result& scf);

  const chem_options& m_options;
  const problem& m_problem;
  const journal& m_journal;
  report& m_report;
  chemistry::fock_builder& m_builder;
};

}  // namespace tessera::apps
