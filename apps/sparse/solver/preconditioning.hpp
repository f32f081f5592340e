#pragma once
// The preconditioner that a solver's options ask for.
#include <optional>

#include "apps/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// None for preconditioning::none. A Chebyshev polynomial gets the bounds of the spectrum by spectrum_bounds, and is
/// near the inverse from a 30th of the spectrum beside the end that is asked for.
std::optional<preconditioner> preconditioner_for(runtime& rt, const csr_matrix& a, const eigen_options& o);

/// Block vectors that its application needs.
std::int64_t blocks_of_preconditioner(const eigen_options& o) noexcept;

}  // namespace tessera::sparse
