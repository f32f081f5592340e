#pragma once
// Eigenpairs that a solver has passed over.
#include <vector>

#include "apps/sparse/solver/convergence.hpp"

namespace tessera::sparse {

/// Vectors of values further out than the innermost of the pairs that were found, orthogonal to all of these: rows x
/// some columns, row-major, the outermost first. They are Ritz vectors of a few Lanczos steps from one random vector,
/// so that a value which lies apart from the rest is seen, and one at the edge of many others may not be: no vectors
/// are no proof. None are looked for with a mass matrix.
std::vector<double> missed_vectors(runtime& rt, const csr_matrix& a, const eigen_options& o, const stopping_rule& rule,
                                   const eigenpairs& found);

/// Bytes that the search needs.
double least_memory_of_search(const csr_matrix& a, const eigen_options& o);

}  // namespace tessera::sparse
