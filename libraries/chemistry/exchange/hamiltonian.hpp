#pragma once
// Electrons in orthonormal orbitals: all that a correlated method needs to know.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {

/// One- and two-electron integrals over real orbitals, in hartree. Both spins have the same orbitals, or each its own;
/// then `one` and `two` are of alpha.
struct hamiltonian {
  std::size_t orbitals = 0;
  int electrons = 0, unpaired = 0;
  double core_energy = 0;                  ///< of the nuclei, and of electrons that are not among these
  std::vector<double> one;                 ///< of pairs
  std::vector<double> two;                 ///< (pq|rs) of pairs of pairs, in chemists' order
  std::vector<double> one_beta, two_beta;  ///< as above; empty where the orbitals are the same
  std::vector<double> mixed;               ///< (pq|rs), p and q alpha, r and s beta: at pair(p, q) pairs + pair(r, s)

  /// Of a pair of ordinals, in either order, among all: orbitals for `one`, pairs for `two`.
  static std::size_t pair(std::size_t p, std::size_t q) noexcept {
    return p < q ? q * (q + 1) / 2 + p : p * (p + 1) / 2 + q;
  }
  static std::size_t pairs(std::size_t count) noexcept { return count * (count + 1) / 2; }
  bool spins_are_apart() const noexcept { return !one_beta.empty(); }
  double h(std::size_t p, std::size_t q) const noexcept { return one[pair(p, q)]; }
  double repulsion(std::size_t p, std::size_t q, std::size_t r, std::size_t s) const noexcept {
    return two[pair(pair(p, q), pair(r, s))];
  }
  double mixed_repulsion(std::size_t p, std::size_t q, std::size_t r, std::size_t s) const noexcept {
    return mixed[pair(p, q) * pairs(orbitals) + pair(r, s)];
  }
};

/// Throws tessera::error (memory) where the machine's memory does not hold so many numbers.
void require_memory_for(double numbers, const std::string& what);

/// Over the orbitals of a field without the lowest and the highest ones. The lowest are doubly occupied: their field is
/// part of the one-electron integrals, their energy of the core's. Of uhf each spin has its integrals. Memory: half a
/// square of pairs of functions times pairs of orbitals. Throws tessera::error: usage where no orbital is left; memory
/// as above.
hamiltonian hamiltonian_of(const integrals& over, const scf_result& scf, int frozen_core, int frozen_virtual);

}  // namespace tessera::chemistry
