#pragma once
// The way down from a saddle point of the energy.
#include <array>
#include <vector>

#include "libraries/chemistry/scf/stability.hpp"

namespace tessera::chemistry {

struct descent_settings {
  double gradient = 1e-5;  ///< hartree; the way ends where no first derivative is larger
  int max_steps = 60;
};

/// Densities, by spin, to which the energy falls from a saddle point along a direction that is not a triplet one. Not
/// those of a converged field: what follows begins there, and may go back up if the minimum is shallow.
std::array<std::vector<double>, 2> lower_densities(const scf_result& scf, reference kind, const curvature& along,
                                                   const integrals& over, fock_builder& builder,
                                                   const descent_settings& how = {});

/// The energy of the orbitals turned by an angle along a direction, hartree, without the repulsion of nuclei.
double energy_along(const scf_result& scf, reference kind, const curvature& along, double angle, const integrals& over,
                    fock_builder& builder);

}  // namespace tessera::chemistry
