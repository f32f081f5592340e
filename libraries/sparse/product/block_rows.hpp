#pragma once
// BCSR: dense blocks of 3 x 3.
#include <memory>

#include "libraries/sparse/product/panel_product.hpp"

namespace tessera::sparse {

/// Three rows at a time, numbers 3k to 3k + 2, in blocks of three columns that begin anywhere: the matrices of
/// problems with three unknowns per point. Rows of the panel beside whole threes are multiplied from the matrix. None
/// where zeros that fill up are too many, or parts of x have fewer than three rows.
std::unique_ptr<panel_product> make_block_rows(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                               const row_panels& parts, panel_memory& memory);

}  // namespace tessera::sparse
