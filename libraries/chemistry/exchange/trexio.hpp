#pragma once
// Orbitals in TREXIO files (https://trex-coe.github.io/trexio), for quantum Monte Carlo among others.
#include <filesystem>
#include <string>

#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {

/// "" where the library can be used; else why not, and what to install. It is opened when this is first asked.
std::string why_no_trexio();

/// Writes nuclei, electrons, basis and all orbitals, beta's behind alpha's where they are others, in the form of HDF5.
/// Functions are normalised one by one. An older file is replaced when the new one is whole. Throws tessera::error:
/// configuration as why_no_trexio; usage for spherical and Cartesian shells beside each other; output where it cannot
/// be written.
void write_trexio(const std::filesystem::path& file, const integrals& over, const scf_result& scf);

/// Throws as write_trexio does for shells.
void check_trexio_shells(const integrals& over);

}  // namespace tessera::chemistry
