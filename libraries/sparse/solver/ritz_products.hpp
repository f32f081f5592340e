#pragma once
// A Rayleigh-Ritz step of one block of vectors.
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {

/// What the step makes, of a block of b vectors.
struct ritz_products {
  ritz_products(program& p, std::int64_t b);
  small_matrix xx, x_ax, coefficients, values, minus_values, norms;
};

/// X becomes Ritz vectors of its span, and AX the sums of products that belong to them.
void record_ritz_step(const csr_matrix& a, spectrum_end end, const block_vector& x, const block_vector& ax,
                      const ritz_products& of);

}  // namespace tessera::sparse
