#pragma once
// What a task does with the rows of its panel: all operations of a pass, strip by strip.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "libraries/sparse/product/matrix_product.hpp"
#include "libraries/sparse/program/kernels.hpp"
#include "libraries/sparse/program/operation.hpp"

namespace tessera::sparse {

/// A block vector in the hands of a task: row `begin` of the panel first.
struct panel_rows {
  double* data;
  std::int64_t columns;
};

/// An operation of a pass, its operands by their places in the task's lists.
struct strip_step {
  operation_kind kind;
  std::vector<std::size_t> from, to;  ///< block vectors
  std::size_t small = 0;              ///< the small matrix that is read
  std::int64_t small_columns = 0;     ///< its columns
  std::int64_t partial = 0;           ///< where its sums begin, for reductions
  std::int64_t source = -1;           ///< which of the multiplications, or of the diagonals, of the pass this is
  const csr_matrix* matrix = nullptr;
  const row_function* rows = nullptr;       ///< in place of a matrix
  const matrix_product* product = nullptr;  ///< of that matrix
  const double* diagonal = nullptr;
  double scale = 1, factor = 0;

  /// A combination's destination is read too: as a source, or for its multiple.
  bool reads_destination(std::size_t vector) const {
    return factor != 0 || std::ranges::find(from, vector) != from.end();
  }
};

/// The source of a multiplication, as the task sees it.
struct multiplied {
  std::vector<kernels::piece> pieces;  ///< ascending
  const double* whole = nullptr;       ///< row 0, when the pieces are parts of one; else null
  /// Looks whether they are.
  void join(std::int64_t columns);
};

/// What a task has.
struct strip_operands {
  std::int64_t begin, end, strip_rows;  ///< rows
  std::int64_t panel;                   ///< its number
  std::vector<panel_rows> vectors;
  std::vector<const double*> small;
  std::vector<multiplied> sources;
  double* partials = nullptr;  ///< sums, zero at the start
};

/// Goes through all strips; in each, through all steps in their order.
void run_steps(const std::vector<strip_step>& steps, const strip_operands& on);

}  // namespace tessera::sparse
