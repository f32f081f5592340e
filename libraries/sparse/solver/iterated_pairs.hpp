/// The course of solvers that improve a block of vectors: LOBPCG, Chebyshev filters.
#pragma once

#include <utility>

#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/dense.hpp"
#include "libraries/sparse/solver/early_stop.hpp"
#include "libraries/sparse/solver/outer_search.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {

/// Of one start.
template <class Iteration>
eigenpairs pairs_of_one_start(runtime& rt, const csr_matrix& a, const eigen_options& o, std::int64_t block,
                              const stopping_rule& rule, const loop_outcome& before) {
  eigenpairs found;
  found.loop = before;
  Iteration solver(rt, a, o, block, rule);
  solver.start();
  // Where the pairs seem to be done, its products are made again and its residuals measured again: products may be
  // spoiled by rounding, and a test that lags may have been of earlier vectors. It goes on where they are not done.
  // An iteration that ends before it begins has nothing to go on with.
  bool goes_on = true;
  while (goes_on && !is_stopped(o) && found.loop.iterations < o.max_iterations && solver.pairs_done() < o.pairs) {
    const loop_outcome more = solver.iterate(o.max_iterations - found.loop.iterations, found.loop.iterations);
    add_iterations(found.loop, more);
    goes_on = more.iterations > 0;
    solver.start();
  }
  solver.give(found);
  return found;
}

/// Pairs of `a` by an Iteration, which is made of the runtime, the matrix, the options, the number of vectors and the
/// stopping rule, and starts, iterates and gives what it has found; matrices
/// of fewer rows than its `min_blocks` are solved densely. Where all pairs
/// are done, it is looked for some that were passed over; with those the iteration starts again, and where it has no
/// iterations or starts left, pairs inside of them have not converged. Throws what the iteration throws.
template <class Iteration>
eigenpairs iterated_pairs(runtime& rt, const csr_matrix& a, const eigen_options& o, std::int64_t block) {
  const stopping_rule rule = rule_for(a, o);
  eigenpairs found;
  if (is_small(a, o, block, Iteration::min_blocks)) {
    found = dense_pairs(a, o, rule);
  } else {
    constexpr int max_starts = 10;
    eigen_options how = o;
    const one_start search = [&](const eigen_options& options, const stopping_rule& side) {
      return pairs_of_one_start<Iteration>(rt, a, options, options.block, side, {});
    };
    int searched = 0;
    found = pairs_of_one_start<Iteration>(rt, a, how, block, rule, {});
    for (int start = 1; found.converged(); ++start) {
      missed_pairs missed = missed_by(rt, a, how, rule, found);
      if (missed.values.empty() && !how.guess.empty()) {
        missed_pairs more = searched_beside(a, how, rule, block, found, search);
        missed.values = std::move(more.values), missed.vectors = std::move(more.vectors);
      }
      searched += std::exchange(found.searched, 0);
      if (missed.values.empty()) {
        // A block of the pairs alone knows no values beside them.
        if (block == o.pairs) mark_clustered(found.values, missed.seen);
        mark_by_search(found, o.which, missed.seen);
        break;
      }
      if (start == max_starts || found.loop.iterations >= o.max_iterations || is_stopped(o)) {
        found.passed_over = missed.values;
        doubt_pairs(found, o.which);
        break;
      }
      how.guess = beside(missed.vectors, found.vectors, a.rows);
      // All that the random vectors had of an eigenvalue with several copies may be among these vectors: what is
      // orthogonal to them would be blind to its other copies.
      how.seed += 0x10000;
      found = pairs_of_one_start<Iteration>(rt, a, how, block, rule, found.loop);
    }
    found.searched = searched;
  }
  found.loop.converged = found.converged();
  found.norm = rule.norm;
  found.block = block;
  return found;
}

}  // namespace tessera::sparse
