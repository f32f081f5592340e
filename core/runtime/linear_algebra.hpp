#pragma once
// The built-in operations as functions: each submits one task and returns. Blocks are whole column-major matrices.
// Shapes and element types that do not fit, and devices that fail, are reported by the next fence.
#include <algorithm>
#include <array>
#include <complex>
#include <string_view>

#include "core/operation/blas.hpp"
#include "core/operation/tensor.hpp"
#include "core/runtime/runtime.hpp"

namespace tessera {

/// What gemm does to a factor first.
enum class transpose : std::uint8_t {
  no = TSR_NO_TRANSPOSE,               ///< taken as it is
  yes = TSR_TRANSPOSE,                 ///< transposed
  conjugate = TSR_CONJUGATE_TRANSPOSE  ///< transposed and complex conjugated
};

namespace detail {

template <class Arguments, std::size_t N>
void submit_builtin(runtime& rt, const operation::definition& what, const Arguments& arguments,
                    const std::array<block::access, N>& accesses, task_options options, std::source_location site) {
  rt.submit_operation(what, &arguments, sizeof arguments, accesses, options, site);
}

template <class T>
block::access touch(block_of<T> b, intent how) {
  return {.block = &b.record(), .version = 0, .how = how, .flags = 0, .space = 0};
}

inline void copy_labels(std::string_view from, std::array<char, max_rank>& to) {
  if (from.size() > to.size())
    throw error(error_kind::usage, "contract: more labels than a block can have dimensions", std::string(from));
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace detail

/// C = alpha op(A) op(B) + beta C. With beta == 0, C is written without being read.
template <class T>
void gemm(runtime& rt, T alpha, block_of<T> a, transpose ta, block_of<T> b, transpose tb, T beta, block_of<T> c,
          task_options options = {}, std::source_location site = std::source_location::current()) {
  operation::gemm_arguments arguments{std::complex<double>(alpha), std::complex<double>(beta),
                                      static_cast<std::uint8_t>(ta), static_cast<std::uint8_t>(tb)};
  detail::submit_builtin(rt, *rt.builtin().gemm, arguments,
                         std::array{detail::touch(a, intent::read), detail::touch(b, intent::read),
                                    detail::touch(c, beta == T{} ? intent::write : intent::update)},
                         options, site);
}

/// Lower triangle of C = alpha A A^T + beta C.
template <class T>
void syrk(runtime& rt, double alpha, block_of<T> a, double beta, block_of<T> c, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().syrk, operation::syrk_arguments{alpha, beta},
                         std::array{detail::touch(a, intent::read), detail::touch(c, intent::update)}, options, site);
}

/// B = alpha B L^-T with the lower triangle L of A.
template <class T>
void trsm(runtime& rt, double alpha, block_of<T> a, block_of<T> b, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().trsm, operation::trsm_arguments{alpha},
                         std::array{detail::touch(a, intent::read), detail::touch(b, intent::update)}, options, site);
}

/// Cholesky factor of the lower triangle of A, in place; info (one element) becomes 0 or the 1-based failing pivot.
template <class T>
void potrf(runtime& rt, block_of<T> a, block_of<std::int32_t> info, task_options options = {},
           std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().potrf, operation::potrf_arguments{},
                         std::array{detail::touch(a, intent::update), detail::touch(info, intent::write)}, options,
                         site);
}

/// Dimension d of `to` is dimension permutation[d] of `from`: to = alpha permuted(from) + beta to. With beta == 0, `to`
/// is written without being read.
template <class T>
void permute(runtime& rt, double alpha, block_of<T> from, std::span<const std::uint8_t> permutation, double beta,
             block_of<T> to, task_options options = {}, std::source_location site = std::source_location::current()) {
  operation::permute_arguments arguments{alpha, beta, {}};
  std::copy_n(permutation.begin(), std::min(permutation.size(), arguments.permutation.size()),
              arguments.permutation.begin());
  detail::submit_builtin(
      rt, *rt.builtin().permute, arguments,
      std::array{detail::touch(from, intent::read), detail::touch(to, beta == 0 ? intent::write : intent::update)},
      options, site);
}

/// C = alpha A B + beta C, summed over the labels that A and B share and C has not. A character of `of_a` labels a
/// dimension of A, first index first, and so on: "ik", "kj", "ij" is a product of matrices. A label in all three blocks
/// is a batch; one that stands twice in a block, or in one block alone, is an error (of the next fence, as are extents
/// that do not fit). With beta == 0, C is written without being read. Throws tessera::error (usage) for more than 8
/// labels.
/// @code tessera::contract(rt, 1.0, a(0, 0), "abcd", b(0, 0), "cdij", 0.0, c(0, 0), "abij"); @endcode
template <class T>
void contract(runtime& rt, T alpha, block_of<T> a, std::string_view of_a, block_of<T> b, std::string_view of_b, T beta,
              block_of<T> c, std::string_view of_c, task_options options = {},
              std::source_location site = std::source_location::current()) {
  operation::contract_arguments arguments{std::complex<double>(alpha), std::complex<double>(beta), {}, {}, {}};
  detail::copy_labels(of_a, arguments.a);
  detail::copy_labels(of_b, arguments.b);
  detail::copy_labels(of_c, arguments.c);
  detail::submit_builtin(rt, *rt.builtin().contract, arguments,
                         std::array{detail::touch(a, intent::read), detail::touch(b, intent::read),
                                    detail::touch(c, beta == T{} ? intent::write : intent::update)},
                         options, site);
}

/// y += alpha x, element by element.
template <class T>
void axpy(runtime& rt, T alpha, block_of<T> x, block_of<T> y, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().axpy, operation::axpy_arguments{std::complex<double>(alpha)},
                         std::array{detail::touch(x, intent::read), detail::touch(y, intent::update)}, options, site);
}

/// The same into private copies: such tasks commute and run at the same time.
template <class T>
void axpy_accumulate(runtime& rt, T alpha, block_of<T> x, block_of<T> y, task_options options = {},
                     std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().axpy, operation::axpy_arguments{std::complex<double>(alpha)},
                         std::array{detail::touch(x, intent::read), detail::touch(y, intent::accumulate)}, options,
                         site);
}

/// x *= alpha.
template <class T>
void scal(runtime& rt, T alpha, block_of<T> x, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().scal, operation::scal_arguments{std::complex<double>(alpha)},
                         std::array{detail::touch(x, intent::update)}, options, site);
}

/// Every element becomes `value`.
template <class T>
void fill(runtime& rt, block_of<T> x, T value, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::submit_builtin(rt, *rt.builtin().fill, operation::fill_arguments{std::complex<double>(value)},
                         std::array{detail::touch(x, intent::write)}, options, site);
}

}  // namespace tessera
