#pragma once
// Initialization data as front ends write them.
#include <cstddef>
#include <span>
#include <vector>

#include "languages/sial/data/init_data.hpp"
#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::testing {

/// Shells of one atom and momentum that follow each other become one of several radial parts over all their exponents.
/// The order of functions stays.
sial::init_data data_with_basis(std::span<const chemistry::shell> shells, const chemistry::molecule& of);

/// Adds the segments of `ao` with "norb", and alpha orbitals with their ranges.
void add_segments(sial::init_data& to, std::vector<std::int64_t> functions, std::vector<std::int64_t> occupied,
                  std::vector<std::int64_t> empty);

}  // namespace tessera::testing
