#pragma once
// Hartree-Fock: molecular orbitals and their energies.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

enum class reference : std::uint8_t {
  rhf,   ///< closed shells: both spins share their orbitals
  uhf,   ///< each spin has its own
  rohf,  ///< open shells, doubly and singly occupied orbitals
};
enum class scf_guess : std::uint8_t {
  core,     ///< orbitals of the electrons without each other
  sad,      ///< superposition of densities of spherical atoms
  density,  ///< scf_settings::start
};

class fock_builder;

struct scf_iteration {
  int number = 0;
  double energy = 0;    ///< of the whole molecule, hartree
  double change = 0;    ///< since the iteration before
  double gradient = 0;  ///< largest element of FDS - SDF, over orthonormal functions
};

struct scf_result;

struct scf_settings {
  reference kind = reference::rhf;
  scf_guess guess = scf_guess::sad;
  std::array<std::vector<double>, 2> start;  ///< for scf_guess::density: of occupied orbitals, by spin; both are there
  int max_iterations = 100;
  double energy_change = 1e-10;      ///< hartree; converged where this and the next hold
  double gradient = 1e-8;            ///< as in scf_iteration
  double linear_dependence = 1e-7;   ///< directions of the overlap with smaller eigenvalues are left out
  double level_shift = 0;            ///< hartree, of the virtual orbitals, while the gradient is above 1e-3
  double damping = 0;                ///< part of the old density in the new one, while the gradient is above 1e-1
  std::size_t kept_bytes = 1 << 30;  ///< for two-electron integrals; what does not fit is computed in each iteration
  unsigned threads = 1;
  std::function<bool(const scf_iteration&)> tell;  ///< after each; false stops it. May be empty
  std::function<void(const scf_result&)> keep;  ///< what there is, after every `keep_interval` iterations. May be empty
  int keep_interval = 5;
};

/// Matrices are column major: functions x orbitals, or functions x functions.
struct scf_result {
  bool converged = false;
  int iterations = 0;
  double energy = 0;                            ///< hartree, with the repulsion of the nuclei
  double change = 0, gradient = 0;              ///< of the last iteration, as in scf_iteration
  std::size_t functions = 0, orbitals = 0;      ///< fewer orbitals than functions where these depend on each other
  std::array<int, 2> occupied{};                ///< alpha, beta
  std::array<std::vector<double>, 2> c;         ///< orbitals in columns; the second is empty for rhf and rohf
  std::array<std::vector<double>, 2> energies;  ///< of orbitals, hartree, ascending; the second as above
  std::array<std::vector<double>, 2> fock;      ///< over functions, by spin; the second is empty for rhf
  std::array<std::vector<double>, 2> density;   ///< over functions, by spin; the second is empty for rhf
  double spin_squared = 0;                      ///< <S^2>
  std::array<double, 3> dipole{};               ///< e bohr, with the nuclei, about the origin
};

/// What run_scf takes of memory, in bytes.
struct scf_memory {
  double matrices = 0;   ///< at most, with what each thread has
  double integrals = 0;  ///< two-electron integrals, where all of them are kept
  double result = 0;     ///< what is left at the end
};
scf_memory memory_of_scf(const integrals& over, const scf_settings& how);

/// As many orbitals as the functions can make: fewer where these depend on each other.
std::size_t independent_functions(const integrals& over, double linear_dependence);

/// Self-consistent field with DIIS (P. Pulay, J. Comput. Chem. 3 (1982) 556). The molecule has been checked. Throws
/// tessera::error: input where rhf is asked for open shells, or more electrons than the basis can hold; numerical where
/// an eigenproblem fails. What did not converge is returned as such.
scf_result run_scf(const molecule& of, const integrals& over, const scf_settings& how);
/// The same with a builder of Fock matrices that keeps its integrals for what follows.
scf_result run_scf(const molecule& of, const integrals& over, const scf_settings& how, fock_builder& builder);

}  // namespace tessera::chemistry
