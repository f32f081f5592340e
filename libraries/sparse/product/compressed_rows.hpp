#pragma once
// Compressed rows, CSR.
#include <memory>

#include "libraries/sparse/product/panel_product.hpp"

namespace tessera::sparse {

/// Rows [begin, end) of y = A x from the matrix as it is; arguments as those of panel_product::multiply.
void multiply_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end, std::int64_t width, const double* x,
                   double* y);

/// Bytes that a product reads of so many rows: 12 an entry, 8 a row.
constexpr std::int64_t bytes_of_compressed_rows(std::int64_t rows, std::int64_t entries) {
  return entries * std::int64_t{sizeof(double) + sizeof(std::int32_t)} + rows * std::int64_t{sizeof(std::int64_t)};
}

/// The rows as they are in the matrix.
std::unique_ptr<panel_product> make_compressed_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end);

}  // namespace tessera::sparse
