#pragma once
// The search for pairs further out by the solver itself.
#include <functional>

#include "libraries/sparse/solver/missed_pairs.hpp"

namespace tessera::sparse {

/// What a solver finds from one start: with the block that the options name, by this rule.
using one_start = std::function<eigenpairs(const eigen_options&, const stopping_rule&)>;

/// Pairs further out than the innermost of those that were found. The solver goes from a few random vectors, beside all
/// that is known, until it is seen on which side of the innermost pair the outermost of the others are. So it finds
/// what a few steps of Lanczos do not see: where a block began with vectors that were given, these are no sample of
/// the spectrum, and exact ones of inner pairs are done before any other vector has moved. Where the search ends before
/// it is sure, pairs that may be inside of others are marked `unsettled`. Adds to `found.searched`.
missed_pairs searched_beside(const csr_matrix& a, const eigen_options& o, const stopping_rule& rule, std::int64_t block,
                             eigenpairs& found, const one_start& solve);

}  // namespace tessera::sparse
