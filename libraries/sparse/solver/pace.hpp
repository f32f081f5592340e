#pragma once
// How fast residuals fall.
#include <limits>
#include <optional>
#include <vector>

#include "libraries/sparse/solver/convergence.hpp"

namespace tessera::sparse {

/// Of the pair that is farthest from done, over the last iterations.
class convergence_pace {
 public:
  /// Behind an iteration: the values and residuals of all pairs.
  void note(const stopping_rule& rule, const std::vector<double>& values, const std::vector<double>& residuals);
  /// Iterations until all pairs are done if residuals go on falling as they did in the last `window` ones, at least 1:
  /// infinite where they did not fall. nullopt where there are not so many.
  std::optional<double> iterations_left(std::size_t window) const;
  /// Forgets what was noted: the iteration is another one from now on.
  void restart() { m_decades.clear(); }

 private:
  std::vector<double> m_decades;  ///< of each iteration: log10 of the worst residual by the wanted one
};

}  // namespace tessera::sparse
