#pragma once
// Eigenpairs that a solver has passed over.
#include <span>
#include <vector>

#include "libraries/sparse/solver/convergence.hpp"

namespace tessera::sparse {

struct missed_pairs {
  std::vector<double> values;   ///< Ritz values, those of the lower end first
  std::vector<double> vectors;  ///< rows x values, row-major
  std::vector<double> seen;     ///< Ritz values of the search, all of them
};

/// What may lie between an eigenvalue at the end of `pairs` and the Ritz values beside it, where none was missed:
/// vectors that were found are as exact as their residuals, and what is orthogonal to them is no better. Those of the
/// other end, `far`, count by the square of the residual by the distance.
double blur_of(std::span<const eigenvalue> pairs, std::span<const eigenvalue> far, const stopping_rule& rule);

/// Pairs further out than the innermost of those that were found, orthogonal to all of these. They are Ritz pairs of a
/// few Lanczos steps from one random vector, so that a value which lies apart from the rest is seen, and one at the
/// edge of many others may not be: none are no proof. None are looked for with a mass matrix.
missed_pairs missed_by(runtime& rt, const csr_matrix& a, const eigen_options& o, const stopping_rule& rule,
                       const eigenpairs& found);

/// Marks pairs by the Ritz values of a search that has missed none, `seen`: where these are not told apart from a pair
/// by its bound, or are further out than it, by less than the blur. Its number may be another one.
void mark_by_search(eigenpairs& found, spectrum_end which, std::span<const double> seen);

/// Pairs inside of values that were passed over are not those that were asked for: they count as not converged.
void doubt_pairs(eigenpairs& found, spectrum_end which);

/// Bytes that the search needs.
double min_memory_of_search(const csr_matrix& a, const eigen_options& o);

}  // namespace tessera::sparse
