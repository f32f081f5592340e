#include "libraries/chemistry/scf/stability.hpp"

namespace tessera::chemistry {

curvature lowest_curvature(const scf_result& scf, reference kind, orbital_rotations which, fock_builder& builder,
                           const davidson_settings& how) {
  orbital_hessian hessian(scf, kind, which, builder);
  const std::vector<double> diagonal = hessian.diagonal();
  curvature out;
  if (diagonal.empty()) return out;
  const eigenpair lowest = lowest_eigenpair(
      diagonal, [&](const std::vector<double>& x) { return hessian.product_with(x); }, how);
  out.lowest = lowest.value;
  out.residual = lowest.residual;
  out.converged = lowest.converged;
  out.fock_matrices = lowest.products;
  out.direction[0] = hessian.rotation(lowest.vector, 0);
  if (kind == reference::uhf) out.direction[1] = hessian.rotation(lowest.vector, 1);
  if (which == orbital_rotations::triplet) {
    out.direction[1] = out.direction[0];
    for (double& x : out.direction[1]) x = -x;
  }
  return out;
}

}  // namespace tessera::chemistry
