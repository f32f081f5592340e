#pragma once
// Eigenvalues and their bounds as text that keeps what they promise.
#include <span>
#include <string>
#include <string_view>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::apps {

/// A value and what it is known to, as text. Whatever lies within the bound of the value lies within the printed bound
/// of the printed value: there are as many digits as the bound has a use for, and it is rounded up, to two digits.
struct printed_value {
  printed_value(double value, double bound);
  std::string value, bound;
};

/// What is not sure of the number of a pair, in words; or nothing.
std::string_view doubt_of(const sparse::eigenvalue& e);

/// "lambda 2 is 3.1 +- 1e-9, and 2.9 by the formula": the first pair that is called sure and is not the known one;
/// empty where there is none.
std::string contradiction(std::span<const sparse::eigenvalue> found, std::span<const double> known);

}  // namespace tessera::apps
