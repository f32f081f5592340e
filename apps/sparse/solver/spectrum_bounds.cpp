#include "apps/sparse/solver/spectrum_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/sparse/solver/krylov_basis.hpp"
#include "apps/sparse/solver/small_table.hpp"

namespace tessera::sparse {

spectrum_interval spectrum_bounds(runtime& rt, const csr_matrix& a, const program_options& how, std::uint64_t seed) {
  constexpr basis_shape shape{.width = 1, .kept = 1, .blocks = 12};
  const double norm = infinity_norm(a);
  if (a.rows <= shape.past_columns()) return {-norm, norm};
  program p(rt, a, how);
  krylov_basis basis(p, a, shape, 1e-14 * norm);
  basis.refill(seed);
  basis.begin();
  for (std::int64_t j = 0; j < shape.blocks; ++j) basis.extend(j);
  small_table h = projection(basis);
  const std::vector<double> values = diagonalize(h);
  const double beyond = std::sqrt(std::max(basis.rest().values()[0], 0.0)) + 1e-12 * norm;
  return {std::max(values.front() - beyond, -norm), std::min(values.back() + beyond, norm)};
}

}  // namespace tessera::sparse
