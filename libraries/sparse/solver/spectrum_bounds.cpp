#include "libraries/sparse/solver/spectrum_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/sparse/solver/krylov_basis.hpp"
#include "libraries/sparse/solver/small_table.hpp"

namespace tessera::sparse {

spectrum_interval spectrum_bounds(runtime& rt, const csr_matrix& a, const program_options& how, std::uint64_t seed) {
  eigen_options o;
  o.program = how, o.seed = seed;
  return spectrum_bounds_beside_deflated(rt, a, o);
}

spectrum_interval spectrum_bounds_beside_deflated(runtime& rt, const csr_matrix& a, const eigen_options& o) {
  constexpr basis_shape shape{.width = 1, .kept = 1, .blocks = 12};
  const double norm = infinity_norm(a);
  if (a.rows - deflated_columns(a, o) <= shape.past_columns()) return {-norm, norm};
  program p(rt, a, o.program.for_columns(1));
  krylov_basis basis(p, a, shape, 1e-14 * norm, reorthogonalization::full, deflation::of(p, a.rows, o, 1));
  basis.refill(o.seed);
  basis.begin();
  for (std::int64_t j = 0; j < shape.blocks; ++j) basis.extend(j);
  small_table h = projection(basis);
  const std::vector<double> values = diagonalize(h);
  const double beyond = std::sqrt(std::max(basis.rest().values()[0], 0.0)) + 1e-12 * norm;
  return {std::max(values.front() - beyond, -norm), std::min(values.back() + beyond, norm)};
}

}  // namespace tessera::sparse
