#pragma once
// Results as QCSchema, version 1.
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

/// What a calculation has found. Energies in hartree.
struct job_result {
  molecule geometry;
  std::string method, basis;  ///< as in a job
  std::string creator;        ///< version of the program
  std::size_t functions = 0, orbitals = 0;
  std::array<int, 2> electrons{};  ///< alpha, beta
  double energy = 0;               ///< of the method
  double scf_energy = 0;           ///< with the repulsion of the nuclei
  int scf_iterations = 0;
  std::array<double, 3> dipole{};                               ///< of the field, e bohr
  std::optional<double> mp2, mp2_same_spin, mp2_opposite_spin;  ///< correlation alone
  std::optional<double> ccsd, triples;                          ///< as above
  std::optional<int> ccsd_iterations;
};

/// An AtomicResult with `success` true. `input`: the AtomicInput that it answers, whose id, keywords and extras it
/// keeps; "": there was none.
std::string qcschema_result(const job_result& of, const std::string& input = {});

/// A FailedOperation: `success` false, and an `error` with its kind and words. `input` as above.
std::string qcschema_failure(const std::string& kind, const std::string& message, const std::string& input = {});

}  // namespace tessera::chemistry
