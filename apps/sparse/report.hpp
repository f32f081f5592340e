#pragma once
// What tessera eigs tells of a solver's run beside the pairs: its speed, and how it converged.
#include <optional>
#include <string>
#include <vector>

#include "apps/common/report.hpp"
#include "apps/sparse/history.hpp"
#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::apps {

/// A run of a solver.
struct solver_run {
  const sparse::csr_matrix& matrix;
  const sparse::eigenpairs& found;
  std::vector<solver_moment> moments;
  std::vector<double> known = {};    ///< eigenvalues by a formula, as many as there are
  std::optional<double> triad = {};  ///< bytes per second of STREAM's triad, if it was measured
  std::string step = "iteration";    ///< what the solver repeats
};

/// Rates of arithmetic and memory, the time before the first iteration; nothing for a dense matrix.
void add_speed(report& to, const solver_run& run);
/// The iterations, in the JSON alone.
void note_convergence(report& to, const solver_run& run);
/// Sections for the page: residuals and eigenvalues over the iterations, the pairs, the graph of an iteration.
std::string page_sections(const solver_run& run);

}  // namespace tessera::apps
