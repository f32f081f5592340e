#pragma once
// Operators that a method needs to be symmetric.
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// Throws tessera::error (input) for an operator that is not symmetric: where that is not known, for one that is seen
/// not to be so at a random pair of vectors, by a product in the program. @param what  "the preconditioner", for
/// messages
void require_symmetric_operator(program& p, const linear_operator& a, const char* what);

}  // namespace tessera::sparse
