#pragma once
// What operations have to do: counted from their shapes, not measured.
#include <span>

#include "apps/sparse/program/operation.hpp"

namespace tessera::sparse {

/// Of the operations in the passes that fuse() finds: tessera/sparse.hpp says what counts (work_count).
work_count work_of(std::span<const operation> operations);

}  // namespace tessera::sparse
