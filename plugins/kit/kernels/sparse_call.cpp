#include "plugins/kit/kernels/sparse_call.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::kit {
namespace {

using i64 = std::int64_t;
constexpr i64 max_columns = i64{1} << 31;

long long shown(i64 value) { return static_cast<long long>(value); }

tsr_status check_not_negative(const reporter& report, const char* call, const char* name, i64 value) {
  if (value >= 0) return TSR_OK;
  return report.fail(TSR_INVALID_ARGUMENT, "%s: %s is %lld", call, name, shown(value));
}

/// Where `count` elements of `each` bytes are.
tsr_status place(const reporter& report, operand_resolver& operands, const char* name, const tsr_address& address,
                 std::uint64_t count, std::size_t each, void** out) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, std::uint64_t{each}, &bytes))
    return report.fail(TSR_OUT_OF_RANGE, "%s exceeds 64 bits of bytes", name);
  return operands.resolve(name, address, bytes, out);
}

/// Checks a row-major matrix of rows x b and yields its bytes.
tsr_status check_rows(const reporter& report, const char* name, i64 rows, i64 b, i64 ld, tsr_type type,
                      std::uint64_t& bytes) {
  if (ld < std::max<i64>(1, b))
    return report.fail(TSR_INVALID_ARGUMENT, "spmm: the leading dimension %lld of %s is less than its %lld columns",
                       shown(ld), name, shown(b));
  bytes = 0;
  if (rows == 0 || b == 0) return TSR_OK;
  std::uint64_t elements = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(rows - 1), static_cast<std::uint64_t>(ld), &elements) ||
      __builtin_add_overflow(elements, static_cast<std::uint64_t>(b), &elements) ||
      __builtin_mul_overflow(elements, std::uint64_t{element_bytes(type)}, &bytes))
    return report.fail(TSR_OUT_OF_RANGE, "spmm: %s exceeds 64 bits of bytes", name);
  return TSR_OK;
}

}  // namespace

bool sparse_supports(tsr_sparse_operation operation, tsr_type type) noexcept {
  return operation >= TSR_SPARSE_SPMM && operation <= TSR_SPARSE_BSR_SPMM_TRANSPOSED && type >= TSR_F32 &&
         type <= TSR_C128;
}

namespace {

/// Bytes of `tiles` tiles; false where 64 bits do not hold them.
bool bytes_of_tiles(const csr_matrix& m, std::uint64_t& out) {
  std::uint64_t tile = 0;
  return !__builtin_mul_overflow(static_cast<std::uint64_t>(m.tile_rows), static_cast<std::uint64_t>(m.tile_columns),
                                 &tile) &&
         !__builtin_mul_overflow(tile, std::uint64_t{element_bytes(m.type)}, &tile) &&
         !__builtin_mul_overflow(tile, static_cast<std::uint64_t>(m.nonzeros), &out) && out <= std::uint64_t{INT64_MAX};
}

tsr_status find_arrays(const reporter& report, operand_resolver& operands, const csr_matrix& m, void** starts,
                       void** columns, void** values) {
  const auto nonzeros = static_cast<std::uint64_t>(m.nonzeros);
  std::uint64_t bytes = 0;
  if (const auto status = place(report, operands, "row_starts", m.row_starts,
                                static_cast<std::uint64_t>(m.rows_of_tiles()) + 1, sizeof(i64), starts))
    return status;
  if (const auto status =
          place(report, operands, "column_indices", m.column_indices, nonzeros, sizeof(std::int32_t), columns))
    return status;
  if (!bytes_of_tiles(m, bytes)) return report.fail(TSR_OUT_OF_RANGE, "values exceeds 63 bits of bytes");
  return operands.resolve("values", m.values, bytes, values);
}

/// What both makers check.
tsr_status check_matrix(const reporter& report, operand_resolver& operands, std::uint32_t flags, csr_matrix& m) {
  const char* const call = m.maker();
  const char* const stored = m.tiled ? "tiles" : "nonzeros";
  if (!sparse_supports(TSR_SPARSE_SPMM, m.type))
    return report.fail(TSR_UNIMPLEMENTED, "%s: no kernel for element type %u; ask supports first", call, m.type);
  if ((flags & ~static_cast<std::uint32_t>(TSR_CSR_NEVER_TRANSPOSED)) != 0)
    return report.fail(TSR_INVALID_ARGUMENT, "%s: unknown flags 0x%x", call, flags);
  if (const auto status = check_not_negative(report, call, "rows", m.rows)) return status;
  if (const auto status = check_not_negative(report, call, "columns", m.columns)) return status;
  if (const auto status = check_not_negative(report, call, stored, m.nonzeros)) return status;
  if (m.tile_rows < 1 || m.tile_columns < 1)
    return report.fail(TSR_INVALID_ARGUMENT, "%s: tiles of %lld x %lld", call, shown(m.tile_rows),
                       shown(m.tile_columns));
  if (m.tile_rows > max_columns || m.tile_columns > max_columns)
    return report.fail(TSR_OUT_OF_RANGE, "%s: tiles of %lld x %lld; at most %lld each way", call, shown(m.tile_rows),
                       shown(m.tile_columns), shown(max_columns));
  if (m.columns > max_columns)
    return report.fail(TSR_OUT_OF_RANGE, "%s: %lld columns; an index of 32 bits counts to %lld", call, shown(m.columns),
                       shown(max_columns));
  if (m.nonzeros > 0 && (m.rows == 0 || m.columns == 0))
    return report.fail(TSR_INVALID_ARGUMENT, "%s: %lld %s in a matrix of %lld x %lld", call, shown(m.nonzeros), stored,
                       shown(m.rows), shown(m.columns));
  m.never_transposed = (flags & TSR_CSR_NEVER_TRANSPOSED) != 0;
  return find_arrays(report, operands, m, &m.starts_at, &m.columns_at, &m.values_at);
}

}  // namespace

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_csr* arguments, csr_matrix& out) {
  if (!TSR_HAS(tsr_csr, arguments, values))
    return report.fail(TSR_INVALID_ARGUMENT, "create_csr: NULL arguments or a struct_size that is not set");
  const auto& m = *arguments;
  out = {m.type,       m.rows,           m.columns, 1,     1,       m.nonzeros, false,
         m.row_starts, m.column_indices, m.values,  false, nullptr, nullptr,    nullptr};
  return check_matrix(report, operands, TSR_HAS(tsr_csr, arguments, flags) ? m.flags : 0, out);
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_bsr* arguments, csr_matrix& out) {
  if (!TSR_HAS(tsr_bsr, arguments, flags))
    return report.fail(TSR_INVALID_ARGUMENT, "create_bsr: NULL arguments or a struct_size that is not set");
  const auto& m = *arguments;
  out = {m.type,       m.rows,           m.columns, m.tile_rows, m.tile_columns, m.tiles, true,
         m.row_starts, m.column_indices, m.values,  false,       nullptr,        nullptr, nullptr};
  return check_matrix(report, operands, m.flags, out);
}

tsr_status check_structure(const reporter& report, const csr_matrix& matrix, const std::int64_t* row_starts,
                           const std::int32_t* column_indices) {
  const char* const call = matrix.maker();
  const char *const suffix = matrix.tiled ? " of tiles" : "", *const one = matrix.tiled ? "tile" : "nonzero";
  const i64 rows = matrix.rows_of_tiles(), columns = matrix.columns_of_tiles();
  if (row_starts[0] != 0)
    return report.fail(TSR_INVALID_ARGUMENT, "%s: row_starts begin with %lld, not 0", call, shown(row_starts[0]));
  for (i64 row = 0; row < rows; ++row)
    if (row_starts[row + 1] < row_starts[row])
      return report.fail(TSR_INVALID_ARGUMENT, "%s: row_starts fall from %lld to %lld at row %lld%s", call,
                         shown(row_starts[row]), shown(row_starts[row + 1]), shown(row), suffix);
  if (row_starts[rows] != matrix.nonzeros)
    return report.fail(TSR_INVALID_ARGUMENT, "%s: row_starts end with %lld, not with the %lld %ss", call,
                       shown(row_starts[rows]), shown(matrix.nonzeros), one);
  for (i64 e = 0; e < matrix.nonzeros; ++e)
    if (column_indices[e] < 0 || column_indices[e] >= columns)
      return report.fail(TSR_OUT_OF_RANGE, "%s: %s %lld is in column %d of %lld%s", call, one, shown(e),
                         column_indices[e], shown(columns), suffix);
  return TSR_OK;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const csr_matrix& matrix,
                   const spmm_arguments& arguments, spmm_call& out) {
  const auto& a = arguments;
  if (a.transpose > TSR_CONJUGATE_TRANSPOSE)
    return report.fail(TSR_INVALID_ARGUMENT, "spmm: transpose is %u", a.transpose);
  const bool transposed = a.transpose != TSR_NO_TRANSPOSE;
  if (transposed && matrix.never_transposed)
    return report.fail(TSR_FAILED_PRECONDITION, "spmm: the matrix was made with TSR_CSR_NEVER_TRANSPOSED");
  if (const auto status = check_not_negative(report, "spmm", "b", a.b)) return status;
  if (a.alpha == nullptr || a.beta == nullptr)
    return report.fail(TSR_INVALID_ARGUMENT, "spmm: %s is NULL", a.alpha == nullptr ? "alpha" : "beta");
  std::uint64_t bytes_x = 0, bytes_y = 0;
  if (const auto status =
          check_rows(report, "X", transposed ? matrix.rows : matrix.columns, a.b, a.ldx, matrix.type, bytes_x))
    return status;
  if (const auto status =
          check_rows(report, "Y", transposed ? matrix.columns : matrix.rows, a.b, a.ldy, matrix.type, bytes_y))
    return status;
  void *starts = nullptr, *columns = nullptr, *values = nullptr, *x = nullptr;
  if (const auto status = find_arrays(report, operands, matrix, &starts, &columns, &values)) return status;
  if (const auto status = operands.resolve("X", a.x, bytes_x, &x)) return status;
  if (const auto status = operands.resolve("Y", a.y, bytes_y, &out.y)) return status;
  if (overlap(x, bytes_x, out.y, bytes_y)) return report.fail(TSR_INVALID_ARGUMENT, "spmm: X and Y overlap");
  out.type = matrix.type;
  out.transpose = a.transpose;
  out.rows = matrix.rows;
  out.columns = matrix.columns;
  out.tile_rows = matrix.tile_rows;
  out.tile_columns = matrix.tile_columns;
  out.nonzeros = matrix.nonzeros;
  out.row_starts = static_cast<const i64*>(starts);
  out.column_indices = static_cast<const std::int32_t*>(columns);
  out.values = values;
  std::memcpy(out.alpha.bytes, a.alpha, element_bytes(matrix.type));
  std::memcpy(out.beta.bytes, a.beta, element_bytes(matrix.type));
  out.b = a.b;
  out.ldx = a.ldx;
  out.ldy = a.ldy;
  out.x = x;
  return TSR_OK;
}

double bytes_moved(const spmm_call& call) {
  const auto element = static_cast<double>(element_bytes(call.type));
  const auto rows = static_cast<double>(call.rows), columns = static_cast<double>(call.columns);
  const double tile = static_cast<double>(call.tile_rows) * static_cast<double>(call.tile_columns) * element;
  return static_cast<double>(call.nonzeros) * (tile + sizeof(std::int32_t)) +
         rows / static_cast<double>(call.tile_rows) * sizeof(i64) +
         (rows + columns) * static_cast<double>(call.b) * element;
}

}  // namespace tessera::kit
