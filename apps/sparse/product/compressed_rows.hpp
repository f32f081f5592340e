#pragma once
// Compressed rows, CSR.
#include <memory>

#include "apps/sparse/product/panel_product.hpp"

namespace tessera::sparse {

/// Rows [begin, end) of y = A x from the matrix as it is; arguments as those of panel_product::multiply.
void multiply_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end, std::int64_t width, const double* x,
                   double* y);

/// The rows as they are in the matrix.
std::unique_ptr<panel_product> make_compressed_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end);

}  // namespace tessera::sparse
