#pragma once
// Files of embedded-atom potentials, in the two public formats of M. S. Daw, S. M. Foiles and M. I. Baskes.
#include <filesystem>

#include "apps/comd/embedded_atom.hpp"

namespace tessera::apps::comd {

/// Reads a file in one of two formats; the third line of `funcfl` is five numbers, that of `setfl` is a comment.
///
/// funcfl: a comment; atomic number, mass, lattice constant, lattice; numbers and steps of the samples of rho and r,
/// cutoff; F(rho); the effective charge Z(r) in units of the electron's, with phi = 27.2 * 0.529 Z^2 / r; f(r).
///
/// setfl: three comments; the number of elements and their names; numbers and steps as above; per element atomic
/// number, mass, lattice constant, lattice, F(rho), f(r); then r phi(r) per pair of elements. The first element is
/// taken.
///
/// Throws tessera::error (input) that names file:line.
embedded_atom read_potential(const std::filesystem::path& file);

}  // namespace tessera::apps::comd
