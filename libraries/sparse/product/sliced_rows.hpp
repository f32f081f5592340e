#pragma once
// SELL-8-64: for products with one vector.
#include <memory>

#include "libraries/sparse/product/panel_product.hpp"

namespace tessera::sparse {

/// Rows in groups of eight, an entry of each beside the other, so that eight sums are made at a time. Among 64 rows
/// that follow each other those of similar length are grouped. Parts of a panel that begin or end within such 64 rows,
/// and several vectors, are multiplied from the matrix. None where zeros that fill up are too many.
std::unique_ptr<panel_product> make_sliced_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                                panel_memory& memory);

}  // namespace tessera::sparse
