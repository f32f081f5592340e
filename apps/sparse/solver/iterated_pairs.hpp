/// The course of solvers that improve a block of vectors: LOBPCG, Chebyshev filters.
#pragma once

#include "apps/sparse/solver/convergence.hpp"
#include "apps/sparse/solver/dense.hpp"

namespace tessera::sparse {

/// Pairs of `a` by an Iteration, which is made of the runtime, the matrix, the options, the number of vectors and the
/// stopping rule, and starts, iterates and gives what it has found; small matrices are solved densely. Throws what the
/// iteration throws.
template <class Iteration>
eigenpairs iterated_pairs(runtime& rt, const csr_matrix& a, const eigen_options& o, std::int64_t block) {
  const stopping_rule rule = rule_for(a, o);
  eigenpairs found;
  if (is_small(a, o, block)) {
    found = dense_pairs(a, o, rule);
  } else {
    Iteration solver(rt, a, o, block, rule);
    solver.start();
    // Where the pairs seem to be done, its products are made again and its residuals measured again: products may be
    // spoiled by rounding, and a test that lags may have been of earlier vectors. It goes on where they are not done.
    // An iteration that ends before it begins has nothing to go on with.
    bool goes_on = true;
    while (goes_on && found.loop.iterations < o.most_iterations && solver.pairs_done() < o.pairs) {
      const loop_outcome more = solver.iterate(o.most_iterations - found.loop.iterations, found.loop.iterations);
      add_iterations(found.loop, more);
      goes_on = more.iterations > 0;
      solver.start();
    }
    solver.give(found);
  }
  found.loop.converged = found.converged();
  found.norm = rule.norm;
  found.block = block;
  return found;
}

}  // namespace tessera::sparse
