#pragma once
// Products with sparse matrices on host pointers: checked when they are enqueued, run later. The pattern of
// blas_call.hpp.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>

#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// All operations for F32, F64, C64, C128.
bool sparse_supports(tsr_sparse_operation operation, tsr_type type) noexcept;

/// What create_csr or create_bsr was told, with the pointers that its arrays have. All is counted in tiles; those of
/// CSR are of 1 x 1.
struct csr_matrix {
  tsr_type type;
  std::int64_t rows, columns;            ///< of elements
  std::int64_t tile_rows, tile_columns;  ///< of elements
  std::int64_t nonzeros;                 ///< tiles that are stored
  bool tiled;                            ///< of create_bsr
  tsr_address row_starts, column_indices, values;
  bool never_transposed;
  void *starts_at, *columns_at, *values_at;

  std::int64_t rows_of_tiles() const { return rows / tile_rows + (rows % tile_rows != 0); }
  std::int64_t columns_of_tiles() const { return columns / tile_columns + (columns % tile_columns != 0); }
  const char* maker() const { return tiled ? "create_bsr" : "create_csr"; }
};
/// Sizes, flags and places of the arrays; not what is in them. Errors as create_csr says.
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_csr* arguments, csr_matrix& out);
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_bsr* arguments, csr_matrix& out);
/// Whether the arrays' contents are a matrix, given where the host can read them. Errors as its maker says.
tsr_status check_structure(const reporter& report, const csr_matrix& matrix, const std::int64_t* row_starts,
                           const std::int32_t* column_indices);

/// What spmm takes besides the handle.
struct spmm_arguments {
  tsr_transpose transpose;
  const void* alpha;
  tsr_address x;
  std::int64_t ldx, b;
  const void* beta;
  tsr_address y;
  std::int64_t ldy;
};

struct spmm_call {
  tsr_type type;
  tsr_transpose transpose;
  std::int64_t rows, columns, tile_rows, tile_columns, nonzeros;  ///< of the matrix as it is stored, as in csr_matrix
  const std::int64_t* row_starts;
  const std::int32_t* column_indices;
  const void* values;
  scalar alpha, beta;
  std::int64_t b, ldx, ldy;
  const void* x;
  void* y;
  std::shared_ptr<const void> index;  ///< what the plugin has built for the matrix
  tsr_workspace workspace;            ///< the caller's, not looked at yet
};
tsr_status prepare(const reporter& report, operand_resolver& operands, const csr_matrix& matrix,
                   const spmm_arguments& arguments, spmm_call& out);
/// Rows one after the other, each in the order of its elements; rows of tiles in the order of their tiles.
tsr_status run(const spmm_call& call);
/// Bytes read and written, for timing: the matrix, X and Y once each.
double bytes_moved(const spmm_call& call);

}  // namespace tessera::kit
