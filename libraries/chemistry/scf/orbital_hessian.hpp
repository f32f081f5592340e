#pragma once
// Derivatives of the energy of a determinant by rotations of its orbitals.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libraries/chemistry/scf/fock.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {

/// Which rotations of orbitals are looked at; all are real.
enum class orbital_rotations : std::uint8_t {
  internal,  ///< those that keep the kind of reference: both spins alike for rhf, orbitals shared for rohf
  triplet    ///< of rhf: both spins in opposite directions, towards uhf
};

/// A vector has a rotation for each pair of an occupied and an empty orbital: of uhf by spin, of rohf for those that
/// are so for one spin at least. Second derivatives are there as products with vectors, which build a Fock matrix.
class orbital_hessian {
 public:
  /// The field and the builder outlive it.
  orbital_hessian(const scf_result& scf, reference kind, orbital_rotations which, fock_builder& builder);

  /// Electrons of how many spins an orbital has.
  double copies() const noexcept { return m_kind == reference::rhf ? 2 : 1; }
  /// First derivatives of the energy, hartree.
  std::vector<double> gradient() const;
  /// The diagonal of what `product_with` multiplies with, without the response of the field.
  std::vector<double> diagonal() const;
  /// With half of the second derivatives for each of `copies`: e_a - e_i + <response> for one pair.
  std::vector<double> product_with(const std::vector<double>& x);
  /// The rotation that a vector means, for the orbitals of a spin: orbitals x orbitals, antisymmetric.
  std::vector<double> rotation(const std::vector<double>& x, std::size_t spin) const;

 private:
  /// Orbitals of one spin with its Fock matrix over them.
  struct orbitals_of_spin {
    std::size_t occupied = 0;
    const std::vector<double>* c = nullptr;  // functions x orbitals
    std::vector<double> fock;                // orbitals x orbitals
  };
  /// An occupied and an empty orbital, and for which spins they are so.
  struct pair {
    std::size_t i, a;
    std::array<bool, 2> turns;
  };
  void add_pair(std::size_t spin, std::size_t i, std::size_t a);
  void add_shared_orbitals(const std::vector<double>& x, std::vector<double>& to) const;

  const reference m_kind;
  const orbital_rotations m_which;
  const std::size_t m_n, m_m;
  fock_builder& m_builder;
  std::vector<orbitals_of_spin> m_spins;
  std::vector<pair> m_pairs;
};

}  // namespace tessera::chemistry
