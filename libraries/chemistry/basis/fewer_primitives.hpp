#pragma once
// Contractions of an atom that share primitives, with fewer of them.
#include <vector>

#include "libraries/chemistry/basis/shell.hpp"

namespace tessera::chemistry {

/// Shells that span the same functions with fewer primitives, since the work for integrals goes with these: of each
/// atom and momentum, contractions lose the primitives that are shells of their own, and two contractions of the same
/// primitives lose one each to the other (E. R. Davidson, Chem. Phys. Lett. 260 (1996) 514). Their sums are normalised.
/// Order and number of shells stay.
std::vector<shell> with_fewer_primitives(std::vector<shell> shells);

}  // namespace tessera::chemistry
