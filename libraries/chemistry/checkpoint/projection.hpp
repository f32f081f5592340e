#pragma once
// Orbitals and amplitudes of one basis or geometry as a guess for another.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "libraries/chemistry/checkpoint/amplitudes.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::chemistry {

/// Overlap of other functions with those of `over`, others x functions, column major. The others go along with their
/// atoms: they are taken at the places of the atoms of `over`, which has the same elements in the same order.
std::vector<double> overlap_of_functions(const std::vector<shell>& others, const integrals& over);

/// Densities to begin a field with: the lowest orbitals of another one, as many as there are electrons of each spin,
/// projected on the functions of `over` and made orthonormal there. `cross`: overlap_of_functions. Throws
/// tessera::error (input) where the other field has too few orbitals, or the functions cannot describe them.
std::array<std::vector<double>, 2> projected_densities(const scf_result& other, const std::vector<double>& cross,
                                                       const integrals& over, std::array<int, 2> electrons,
                                                       double linear_dependence);

/// Amplitudes over other orbitals, by their overlaps with these: t' = S^T t S for each index.
class amplitude_projection {
 public:
  /// @param from   what is projected; outlives it
  /// @param cross  overlap_of_functions of the functions of `from`
  /// @param now    zeros over the new orbitals
  amplitude_projection(const amplitudes& from, const std::vector<double>& cross, const amplitudes& now);
  amplitude_projection(const amplitude_projection&) = delete;
  amplitude_projection& operator=(const amplitude_projection&) = delete;
  /// Why it makes no sense; "" where it does.
  const std::string& why_not() const noexcept { return m_why_not; }
  /// `first`, over the new orbitals, with its part in the space of the old ones replaced: t + S^T (t_old - S t S^T) S.
  amplitudes improved(amplitudes first) const;

 private:
  struct overlaps {
    std::size_t occupied_from = 0, occupied_to = 0, empty_from = 0, empty_to = 0;
    std::vector<double> occupied, empty;  // from x to
  };
  void improve_singles(const overlaps& of, const std::vector<double>& old, std::vector<double>& t) const;
  void improve_doubles(const overlaps& a, const overlaps& b, const std::vector<double>& old,
                       std::vector<double>& t) const;

  amplitudes m_opened;  // of closed shells, for open ones
  const amplitudes& m_from;
  std::array<overlaps, 2> m_spins;
  std::string m_why_not;
};

}  // namespace tessera::chemistry
