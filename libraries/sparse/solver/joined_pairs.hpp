#pragma once
// Pairs that were found one part after the other.
#include "libraries/sparse/solver/convergence.hpp"

namespace tessera::sparse {

/// Ritz pairs of the vectors of all parts, those that are asked for, with residuals of a product with A: `parts` has as
/// many vectors as are asked for or more, in any order, and the sums of all else. Marks of its pairs are kept.
eigenpairs joined_pairs(runtime& rt, const csr_matrix& a, const eigen_options& o, const stopping_rule& rule,
                        const eigenpairs& parts);

}  // namespace tessera::sparse
