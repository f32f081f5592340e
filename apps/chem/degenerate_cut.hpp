#pragma once
// Orbitals of the same energy that are not treated alike.
#include <cstddef>
#include <string>
#include <vector>

#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"

namespace tessera::apps {

/// A boundary between orbitals that have the same energy: which of them is on which side is left to chance.
struct degenerate_cut {
  std::string boundary;          ///< "frozen core", "frozen virtuals" or "occupied"
  std::string spin;              ///< "alpha" or "beta"; "": both have the same orbitals
  std::size_t first = 0;         ///< number, from 1, of the first orbital of this energy
  std::size_t below = 0;         ///< so many of them are below the boundary
  std::vector<double> energies;  ///< hartree, of all of them
};

/// Orbitals whose energies differ by less than 1e-4 hartree from one to the next are of one energy.
std::vector<degenerate_cut> degenerate_cuts(const chemistry::scf_result& scf, int frozen_core, int frozen_virtual);

/// Says on standard error and in the report what is cut of a field that has converged.
void warn_of_degenerate_cuts(const chem_options& o, const problem& p, const chemistry::scf_result& scf, report& to);

}  // namespace tessera::apps
