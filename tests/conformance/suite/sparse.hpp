#pragma once
// What the checks of the SPARSE table share.
#include <algorithm>
#include <cstring>
#include <span>

#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {

/// Runs `one(stream, sparse, T{}, random)` `rounds` times for every device and type that claims the operation.
template <class One>
void each_claimed(const subject& what, tsr_sparse_operation operation, int rounds, One&& one) {
  const opened all(what);
  bool any = false, tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_sparse_table* sparse = device.sparse();
    if (sparse == nullptr) return;
    any = true;
    need(sparse->version >= 1, "the SPARSE table has version 0");
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      if (!sparse->supports(device.handle(), operation, number<T>::type)) return;
      tried = true;
      const queue stream(device);
      in_rounds(what, number<T>::name, rounds, [&](random_source& random) { one(stream, *sparse, zero, random); });
    });
  });
  if (!tried)
    skip(any ? "the SPARSE table claims this operation for none of the types that are checked"
             : "no device offers the table SPARSE");
}

/// Y = alpha op(a) X + beta Y for one of `widths` columns, with random scalars and gaps, twice: right, and with the
/// same bits. OnDevice is made of (stream, a, flags) and has a `handle`; reference(transpose, alpha, x, ldx, b, beta,
/// y, ldy, rows_of_y) computes the same on the host and returns the most additions to an element. `shape` tells what
/// the matrix is.
template <class T, class OnDevice, class Matrix, class Reference>
void check_product(const queue& stream, const tsr_sparse_table& sparse, random_source& random, tsr_transpose transpose,
                   const Matrix& a, const std::string& shape, std::span<const std::size_t> widths,
                   Reference&& reference) {
  const device& device = stream.owner();
  const std::uint32_t space = compute_space(device);
  const bool flipped = transpose != TSR_NO_TRANSPOSE;
  const auto in = static_cast<std::size_t>(flipped ? a.rows : a.columns),
             out = static_cast<std::size_t>(flipped ? a.columns : a.rows);
  const std::size_t b = widths[random() % widths.size()];
  const std::size_t ldx = std::max<std::size_t>(b, 1) + random() % 3, ldy = std::max<std::size_t>(b, 1) + random() % 3;
  const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
  // What may not be read is no number: rows' ends, Y without beta, X without alpha.
  std::vector<T> x(in * ldx, not_a_number<T>()), y(out * ldy + 1, not_a_number<T>());
  for (std::size_t i = 0; i < in && alpha != T(0); ++i)
    for (std::size_t q = 0; q < b; ++q) x[i * ldx + q] = random_number<T>(random);
  for (std::size_t i = 0; i < out && beta != T(0); ++i)
    for (std::size_t q = 0; q < b; ++q) y[i * ldy + q] = random_number<T>(random);
  const OnDevice matrix(stream, a, flipped || random() % 2 == 0 ? 0 : TSR_CSR_NEVER_TRANSPOSED);
  const buffer on_x = uploaded(stream, space, x), on_y = uploaded(stream, space, y), again = uploaded(stream, space, y);
  const std::string call = fmt::format("spmm {} of {} by {}", transpose, shape, b);
  for (const buffer* to : {&on_y, &again}) {
    T given_alpha = alpha, given_beta = beta;
    expect_ok(sparse.spmm(device.handle(), stream.handle(), transpose, &given_alpha, matrix.handle, on_x.at(0),
                          static_cast<std::int64_t>(ldx), static_cast<std::int64_t>(b), &given_beta, to->at(0),
                          static_cast<std::int64_t>(ldy), {}),
              call);
    given_alpha = given_beta = not_a_number<T>();  // read before the call returned
  }
  stream.finish();
  const std::size_t additions = reference(transpose, alpha, x, ldx, b, beta, y, ldy, out);
  const auto got = downloaded<T>(stream, on_y, y.size()), second = downloaded<T>(stream, again, y.size());
  expect_near(got, y, 16 * epsilon<T> * static_cast<double>(additions + 4), call);
  expect(std::memcmp(got.data(), second.data(), got.size() * sizeof(T)) == 0, "{}: the same call gives other bits",
         call);
}

}  // namespace tessera::conformance
