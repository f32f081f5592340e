#pragma once
// Matrices of files that are open.
#include <optional>

#include "libraries/matrix_market/read.hpp"
#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// Reads what follows the first line of a file that is not complex, and throws what `read_matrix` does.
csr_matrix read_real(matrix_market::open_file& file, std::optional<std::int64_t> memory = {});

}  // namespace tessera::sparse
