#pragma once
// An interval that has the whole spectrum of a symmetric matrix.
#include <cstdint>

#include "libraries/sparse/solver/eigenpairs.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// All eigenvalues are in it: but see spectrum_bounds.
struct spectrum_interval {
  double lower, upper;
  double width() const noexcept { return upper - lower; }
};

/// By a few steps of Lanczos: the outermost Ritz values, and the length of what the last step leaves beyond each (Zhou
/// and Li, Comput. Phys. Commun. 182 (2011) 1), within the infinity norm. The start is random; in practice no
/// eigenvalue is outside, and what relies on it must notice when a Ritz value is, and then use the norm.
spectrum_interval spectrum_bounds(runtime& rt, const csr_matrix& a, const program_options& how, std::uint64_t seed);

/// Of A beside what the options deflate.
spectrum_interval spectrum_bounds_beside_deflated(runtime& rt, const csr_matrix& a, const eigen_options& o);

}  // namespace tessera::sparse
