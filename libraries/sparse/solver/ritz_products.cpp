#include "libraries/sparse/solver/ritz_products.hpp"

namespace tessera::sparse {

ritz_products::ritz_products(program& p, std::int64_t b)
    : xx(p.small("X'X", b, b)),
      x_ax(p.small("X'AX", b, b)),
      coefficients(p.small("start", b, b)),
      values(p.small("values", 1, b)),
      minus_values(p.small("-values", 1, b)),
      norms(p.small("residuals", 1, b)) {}

void record_ritz_step(const csr_matrix& a, spectrum_end end, const block_vector& x, const block_vector& ax,
                      const ritz_products& of) {
  apply(a, x, ax);
  gram(x, x, of.xx);
  gram(x, ax, of.x_ax);
  record_ritz_vectors(of.x_ax, of.xx, end, of.coefficients, of.values, of.minus_values);
  combine(x, of.coefficients, x);
  combine(ax, of.coefficients, ax);
}

}  // namespace tessera::sparse
