#pragma once
// A Hamiltonian without a molecule, for what wants integrals over functions.
#include "libraries/chemistry/exchange/hamiltonian.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

/// Integrals over orthonormal orbitals that are given: each is a shell and an atom of its own. Where each spin has its
/// own, those of beta follow those of alpha, and integrals between the two are 0. `nuclei` has no atoms, and as many
/// electrons as the Hamiltonian has. The core's energy is in none of the integrals.
class model_integrals final : public integrals {
 public:
  explicit model_integrals(hamiltonian given);

  std::vector<double> overlap() const override;
  /// The one-electron integrals; attraction and dipole are 0.
  std::vector<double> kinetic() const override;
  std::vector<double> attraction() const override;
  std::array<std::vector<double>, 3> dipole() const override;
  std::unique_ptr<repulsion_engine> engine(double bound) const override;
  bool obeys_schwarz() const noexcept override { return false; }
  function_range functions_of_spin(std::size_t spin) const noexcept override;
  const hamiltonian& given() const noexcept { return m_given; }

 private:
  const hamiltonian m_given;
};

}  // namespace tessera::chemistry
