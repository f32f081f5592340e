#pragma once
// The small problem of LOBPCG: Rayleigh-Ritz in the span of vectors X, residuals R and directions P.
#include <cstdint>
#include <vector>

#include "libraries/sparse/solver/pencil.hpp"

namespace tessera::sparse {

/// What comes of it. Coefficients are row-major, a row for each column of [X R P].
struct conjugate_step {
  std::vector<double> values;      ///< b Ritz values, the outermost first
  std::vector<double> vectors;     ///< 3b x b: of the next X, orthonormal
  std::vector<double> directions;  ///< 3b x b: of the next P, orthonormal and orthogonal to the next X. It spans what
                                   ///< the next X has outside of X; columns of zeros where nothing is left
  std::vector<double> growth;      ///< 2b: of the next X and P, see conjugate_step_of
  std::int64_t dropped = 0;        ///< directions of [X R P] that depend on others, or were not used
};

/// `p` has the products of [X R P], 3b x 3b. Columns that are not `used` take no part.
///
/// Products of A with the next X and P are sums of earlier ones, and so are their errors. The basis is made so that
/// these do not grow from step to step: X is kept, then P, from which X is taken; of R, which has been multiplied by A
/// just now, remains what neither has, and of this what is more than a millionth of its length. X and P are orthonormal
/// already, so that their products are hardly ever divided by anything small. Where they are, `growth` says so: it is
/// the error of each column's product in units of the error of a single product, 1 where that was made anew. Only
/// errors that come from earlier steps can become large, and only these count.
///
/// Throws tessera::error (numerical) when fewer than b directions are left.
conjugate_step conjugate_step_of(const pencil& p, std::int64_t b, spectrum_end end, const std::vector<bool>& used,
                                 const std::vector<double>& growth);

}  // namespace tessera::sparse
