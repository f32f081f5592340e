#pragma once
// The basis as other programs expect it: everything normalised.
#include <cstddef>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

/// Coefficients of normalised primitives with which the contraction is normalised.
std::vector<double> normalised_coefficients(const shell& of);

/// The norm of each function; a coefficient of an orbital times it is one of the normalised function.
std::vector<double> norms_of_functions(const integrals& over);

}  // namespace tessera::chemistry
