#pragma once
// A criterion that ends a solution before its pairs are done: asked with every report, kept once it holds.
#include <chrono>
#include <string>
#include <vector>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// What the parts of one solution share: the criterion, and whether it has held.
class early_stop {
 public:
  explicit early_stop(stop_criterion rule) : m_rule(std::move(rule)) {}
  /// Of the solution, or of a search, whose iterations and residuals do not count.
  void ask(const eigen_progress& now);
  bool holds() const noexcept { return m_said.stops; }
  const std::string& by() const noexcept { return m_said.by; }  ///< "" before it holds

 private:
  const stop_criterion m_rule;
  const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  int m_iteration = 0;
  std::vector<double> m_residuals, m_first, m_values;
  stop_decision m_said;
};

/// The options with eigen_options::stop in the hands of the solver: reports ask it too. As they are where that has been
/// done, and without a criterion.
eigen_options with_early_stop(const eigen_options& o);
/// Whether it has held.
bool is_stopped(const eigen_options& o) noexcept;
/// What it was, for eigenpairs::stopped_by.
std::string stopped_by(const eigen_options& o);

}  // namespace tessera::sparse
