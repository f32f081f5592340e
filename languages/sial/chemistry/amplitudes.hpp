#pragma once
// The largest amplitudes of coupled cluster.
#include <cstddef>
#include <string>
#include <vector>

#include "languages/sial/chemistry/orbitals.hpp"
#include "languages/sial/interpreter/program_run.hpp"

namespace tessera::sial {

/// An orbital as people call it.
struct orbital_label {
  int number = 0;    ///< from 1 by energy, of its spin, frozen ones among them
  char spin = '\0';  ///< 'a' or 'b'; 0 where both spins have the same
};
/// "5", "5a".
std::string to_text(const orbital_label& one);

/// t_i^a or t_ij^ab.
struct amplitude {
  double value = 0;
  std::vector<orbital_label> from, to;  ///< i, j and a, b
};

/// Names of the active orbitals, in the order of the list that programs get: see orbital_data.
std::vector<orbital_label> orbital_labels(const chemistry::scf_result& scf, const orbital_choice& how);

/// The `count` largest elements, descending, of the items "t1" or "t2" of a program; what differs by the order of its
/// electrons alone is there once. `data` are the program's. Blocks are read one after another.
std::vector<amplitude> largest_amplitudes(const kept_item& of, const init_data& data,
                                          const std::vector<orbital_label>& labels, std::size_t count);

}  // namespace tessera::sial
