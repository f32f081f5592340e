#pragma once
// Extrapolation from earlier iterations.
#include <cstddef>
#include <deque>
#include <vector>

namespace tessera::chemistry {

/// Direct inversion in the iterative subspace (P. Pulay, J. Comput. Chem. 3 (1982) 556).
class diis {
 public:
  /// @param most  iterations that are remembered
  explicit diis(std::size_t most) noexcept : m_most(most) {}
  /// Takes a vector with its error, of the same lengths each time, and returns what to go on with: the combination of
  /// the remembered ones whose error is smallest. Where the equations are singular, the oldest ones are forgotten.
  std::vector<double> next(std::vector<double> vector, std::vector<double> error);

 private:
  struct step {
    std::vector<double> vector, error;
  };
  const std::size_t m_most;
  std::deque<step> m_steps;
};

}  // namespace tessera::chemistry
