#pragma once
// The lowest eigenvalue of a large symmetric matrix of which only products are known.
#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::chemistry {

struct eigenpair {
  double value = 0;
  std::vector<double> vector;  ///< of norm 1
  double residual = 0;         ///< norm of A x - value x
  int products = 0;            ///< that it took
  bool converged = false;
};

struct davidson_settings {
  double residual = 1e-4;  ///< converged where the norm is below this, or below `relative` times the value
  double relative = 0.03;
  int max_products = 60;
};

/// E. R. Davidson, J. Comput. Phys. 17 (1975) 87. Begins with the smallest elements of the diagonal and a little of all
/// others, so that no symmetry of the matrix hides its lowest vector. The value is never below the lowest one.
eigenpair lowest_eigenpair(const std::vector<double>& diagonal,
                           const std::function<std::vector<double>(const std::vector<double>&)>& product,
                           const davidson_settings& how = {});

}  // namespace tessera::chemistry
