#pragma once
// Molecular orbitals as initialization data of programs.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "languages/sial/data/init_data.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::sial {

/// Lengths of segments, at most: of basis functions, occupied and virtual orbitals.
using segment_lengths = std::array<std::size_t, 3>;

/// Which orbitals take part, and how they are cut.
struct orbital_choice {
  int frozen_core = 0;         ///< orbitals of lowest energy that stay doubly occupied
  int frozen_virtual = 0;      ///< orbitals of highest energy that stay empty
  bool spin_orbitals = false;  ///< each spin has orbitals of its own, also for closed shells; always so for others
  std::size_t basis_segment = 24, occupied_segment = 12, virtual_segment = 32;  ///< at most so many in one

  segment_lengths lengths() const noexcept { return {basis_segment, occupied_segment, virtual_segment}; }
  void cut_into(const segment_lengths& at_most) noexcept {
    basis_segment = at_most[0];
    occupied_segment = at_most[1];
    virtual_segment = at_most[2];
  }
};

/// Basis functions cut at shells, an atom's together where they fit: lengths of segments of about `most` functions or
/// one shell.
std::vector<std::int64_t> basis_segments(const chemistry::integrals& over, std::size_t most);
/// `count` orbitals in as few segments of at most `most` as there can be, of equal length up to one.
std::vector<std::int64_t> orbital_segments(std::size_t count, std::size_t most);

/// What programs are told: the static arrays "ca" (functions x active orbitals), "fock_a" (the Fock matrix over them),
/// "spin" (of each segment: 1, or -1 for beta), "segment_of" and "spin_of" (of each active occupied orbital), the
/// segments of `ao` and `mo`, and the ints "ao_segments", "mo_segments", "occ_segments", "virt_first", "occupied",
/// "virtual", "spin_orbitals" (0 or 1) and "direct_ladder" (0), and that there are no amplitudes to begin with. Of
/// closed shells the orbitals of both spins are the same and there once. Else the list is: occupied alpha, occupied
/// beta, virtual alpha, virtual beta; those of rohf are made semicanonical. Throws tessera::error (usage) where no
/// occupied or no virtual orbital is left.
init_data orbital_data(const chemistry::integrals& over, const chemistry::scf_result& scf, const orbital_choice& how);

}  // namespace tessera::sial
