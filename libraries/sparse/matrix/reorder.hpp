#pragma once
// Other orders of a matrix's rows and columns.
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// An order of rows, and of columns with them: P A P^T has the eigenvalues of A.
struct row_order {
  std::vector<std::int32_t> old_rows;  ///< row k of the reordered matrix is row old_rows[k] of the original one

  /// P A P^T.
  csr_matrix reordered(const csr_matrix& a) const;
  /// P X, of numbers that lie row by row.
  std::vector<double> reordered(std::span<const double> row_major) const;
  /// P^T X: the original order of rows.
  std::vector<double> restored(std::span<const double> row_major) const;
};

/// The order of reverse Cuthill-McKee, which brings the entries of a symmetric matrix near to the diagonal: each
/// connected part is numbered by breadth-first search from a vertex at its edge, neighbours of few neighbours first.
/// The matrix must be symmetric, its entries' places at least.
row_order reverse_cuthill_mckee(const csr_matrix& a);

/// Largest distance of an entry from the diagonal.
std::int64_t bandwidth(const csr_matrix& a);

}  // namespace tessera::sparse
