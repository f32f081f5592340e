#pragma once
// The molecule of a command line, as programs are told of it.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "languages/sial/data/init_data.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/scf/fock.hpp"

namespace tessera::apps {

struct molecule_choice {
  std::string file;  ///< of a molecule, or of a whole calculation; "": no molecule
  std::optional<std::string> basis;
  std::optional<int> charge;  ///< what is not given here is what the file says
  bool frozen_core = false;
};

struct molecule_field {
  std::unique_ptr<chemistry::integrals> functions;
  std::unique_ptr<chemistry::fock_builder> builder;  ///< with what the field has kept of its integrals, or null
  std::unique_ptr<chemistry::integrals> over;        ///< for programs: these read what is kept
  double kept_bytes = 0;                             ///< bytes of that; 0: nothing is kept
  double energy = 0;                                 ///< of the field, hartree
  int iterations = 0;
  std::string basis;               ///< its name
  std::vector<std::string> notes;  ///< of the file: what it asks for and nothing does
};

/// Reads the file as `tessera chem` does, computes the field of a closed shell and adds orbitals, Fock matrix and
/// segments to `data`, as orbital_data gives them, with what the programs that come with Tessera ask for besides. Ints
/// and scalars that `data` has stay. Throws tessera::error: input for a molecule that cannot be; usage where `data`
/// have a basis, or arrays or segments of the same names; numerical where the field does not converge. `go_on`: false
/// stops it, as if it did not converge.
/// @param kept_bytes  that two-electron integrals of the field may take while programs run: those of a field with more
///   are computed again
molecule_field add_molecule(const molecule_choice& what, sial::init_data& data, unsigned threads, double kept_bytes,
                            const std::function<bool()>& go_on);

/// Bytes of integrals that may stay beside the blocks of programs: half of what the machine, or the control group, is
/// left with when blocks have taken all that they may.
double room_for_integrals();

}  // namespace tessera::apps
