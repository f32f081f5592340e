#pragma once
// Whether a field is a minimum of the energy.
#include <array>
#include <vector>

#include "libraries/chemistry/scf/davidson.hpp"
#include "libraries/chemistry/scf/orbital_hessian.hpp"

namespace tessera::chemistry {

/// The lowest curvature of the energy.
struct curvature {
  /// Eigenvalue of the matrix of second derivatives, hartree: e_a - e_i + <response> for one pair (R. Seeger,
  /// J. A. Pople, J. Chem. Phys. 66 (1977) 3045, the real cases).
  double lowest = 0;
  double residual = 0;
  bool converged = true;  ///< the eigenvalue is known well enough
  int fock_matrices = 0;  ///< that were built
  /// The direction: rotations of orbitals, orbitals x orbitals and antisymmetric, by spin; the second is empty where
  /// both spins share their orbitals and turn alike.
  std::array<std::vector<double>, 2> direction;
  /// Below what may be rounding, of a residual or of a field that is just converged.
  bool is_descent() const noexcept { return lowest < -1e-5; }
};

/// Of a converged field. Nothing can turn where there are no virtual orbitals: 0, and no direction.
curvature lowest_curvature(const scf_result& scf, reference kind, orbital_rotations which, fock_builder& builder,
                           const davidson_settings& how = {});

}  // namespace tessera::chemistry
