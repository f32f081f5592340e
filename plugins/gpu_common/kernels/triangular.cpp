// Triangular systems and Cholesky factors, in panels: a kernel does a small block, products do the rest.
#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/gpu_common/kernels/kernels.hpp"

namespace tessera::gpu {

error_t solve_lower(tsr_type type, std::int64_t n, std::int64_t columns, const void* alpha, const matrix& l,
                    bool unit_diagonal, const matrix& x, stream_t stream) {
  if (n <= 0 || columns <= 0) return error_t{};
  if (is_zero(type, alpha))
    return multiply({type, n, columns, 0, alpha, alpha, x, x, x}, stream);  // X = 0, without a look at L
  const std::size_t bytes = kit::element_bytes(type);
  const kit::scalar one = real_number(type, 1), minus_one = real_number(type, -1);
  const void* factor = alpha;
  for (std::int64_t begin = 0; begin < n; begin += panel) {
    const std::int64_t rows = n - begin < panel ? n - begin : panel, left = n - begin - rows;
    const matrix block = part_of(x, bytes, begin, 0);
    error_t error = solve_panel(type, static_cast<int>(rows), columns, factor, part_of(l, bytes, begin, begin),
                                unit_diagonal, block, stream);
    if (kind_of(error) != error_kind::none) return error;
    // What is left of X is multiplied by alpha on the way, once.
    const product rest{type,
                       left,
                       columns,
                       rows,
                       minus_one.bytes,
                       factor,
                       part_of(l, bytes, begin + rows, begin),
                       block,
                       part_of(x, bytes, begin + rows, 0)};
    if (left > 0) error = multiply(rest, stream);
    if (kind_of(error) != error_kind::none) return error;
    factor = one.bytes;
  }
  return error_t{};
}

error_t factor_lower(tsr_type type, std::int64_t n, const matrix& a, std::int32_t* info, stream_t stream) {
  const std::size_t bytes = kit::element_bytes(type);
  const kit::scalar one = real_number(type, 1), minus_one = real_number(type, -1);
  error_t error = fill_bytes(info, 0, sizeof *info, stream);
  for (std::int64_t begin = 0; begin < n && kind_of(error) == error_kind::none; begin += panel) {
    const std::int64_t rows = n - begin < panel ? n - begin : panel, left = n - begin - rows;
    const matrix block = part_of(a, bytes, begin, begin);
    error = factor_panel(type, static_cast<int>(rows), begin, block, info, stream);
    if (left == 0 || kind_of(error) != error_kind::none) continue;
    // Below: P L^H = A, so conj(L) P^T = A^T; then the rest loses P P^H.
    const matrix below = part_of(a, bytes, begin + rows, begin);
    matrix triangle = block, other = below.transposed();
    triangle.conjugated = other.conjugated = true;
    error = solve_lower(type, rows, left, one.bytes, triangle, false, below.transposed(), stream);
    if (kind_of(error) != error_kind::none) continue;
    product rest{type,
                 left,
                 left,
                 rows,
                 minus_one.bytes,
                 one.bytes,
                 below,
                 other,
                 part_of(a, bytes, begin + rows, begin + rows)};
    rest.lower = true;
    error = multiply(rest, stream);
  }
  return error;
}

}  // namespace tessera::gpu
