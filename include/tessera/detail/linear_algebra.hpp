#pragma once
// The built-in operations as functions: each submits one task and returns. Blocks are whole column-major matrices.
// Scalars are converted to the element type of the blocks. Shapes and element types that do not fit, and devices that
// fail, are reported by the next fence.
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/block/element_type.hpp"
#include "tessera/detail/rows_task.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {

/// What gemm does to a factor first.
enum class transpose : std::uint8_t {
  no = TSR_NO_TRANSPOSE,               ///< taken as it is
  yes = TSR_TRANSPOSE,                 ///< transposed
  conjugate = TSR_CONJUGATE_TRANSPOSE  ///< transposed and complex conjugated
};

/// Elements that gemm, syrk, trsm, potrf, contract, axpy and scal compute with.
template <class T>
concept blas_element = std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
/// Elements that permute scales and adds: those of the BLAS and integers.
template <class T>
concept permutable_element = blas_element<T> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

namespace detail {

template <class T>
constexpr void require_blas_element() {
  static_assert(blas_element<T>,
                "this operation is of the BLAS: its blocks are of float, double, std::complex<float> or "
                "std::complex<double>. For other elements submit a function");
}
template <class T>
constexpr void require_permutable_element() {
  static_assert(permutable_element<T>,
                "permute is for blocks of float, double, std::complex of both, std::int32_t and std::int64_t. For "
                "other elements submit a function");
}

/// Where a built-in operation is submitted, and how.
struct submit_call {
  runtime& rt;
  const task_options& options;
  std::source_location site;
};
/// A factor of a product: a block with what is done to it first, or with its labels.
struct factor {
  block::record& block;
  transpose op = transpose::no;
  std::string_view labels = {};
};
/// An element of any type, exactly.
struct any_element {
  std::complex<double> value = 0;
  std::int64_t integer = 0;
  bool is_integer = false;
};
template <class T>
any_element element_of(T value) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::byte>)
    return {.integer = static_cast<std::int64_t>(value), .is_integer = true};
  else
    return {.value = std::complex<double>(value)};
}
using number = std::complex<double>;

void gemm(const submit_call& call, number alpha, factor a, factor b, number beta, block::record& c);
void syrk(const submit_call& call, double alpha, block::record& a, double beta, block::record& c);
void trsm(const submit_call& call, double alpha, block::record& a, block::record& b);
void potrf(const submit_call& call, block::record& a, block::record& info);
void permute(const submit_call& call, double alpha, block::record& from, std::span<const std::uint8_t> permutation,
             double beta, block::record& to);
void contract(const submit_call& call, number alpha, factor a, factor b, number beta, factor c);
void axpy(const submit_call& call, number alpha, block::record& x, block::record& y, intent use);
void scal(const submit_call& call, number alpha, block::record& x);
void fill(const submit_call& call, block::record& x, const any_element& value);

}  // namespace detail

/// A block of a matrix.
template <class T>
using matrix_block = block_of<T, 2, column_major>;

/// Whether a block can be a matrix of linear algebra: its first index is the fastest, and it has two, as far as the
/// compiler knows.
template <std::size_t Rank, class Order>
inline constexpr bool is_matrix = (Rank == 2 || Rank == any_rank) && std::is_same_v<Order, column_major>;

/// Whether the labels of an operation, first index first, are in the order of memory: of one dimension in any order.
template <std::size_t Rank, class Order>
inline constexpr bool first_is_fastest = Rank <= 1 || std::is_same_v<Order, column_major>;

/// C = alpha op(A) op(B) + beta C, of op(A) m x k, op(B) k x n and C m x n. With beta == 0, C is written without being
/// read.
template <class T, std::size_t Rank, index_order Order>
void gemm(runtime& rt, std::type_identity_t<T> alpha, block_of<T, Rank, Order> a, transpose ta,
          block_of<T, Rank, Order> b, transpose tb, std::type_identity_t<T> beta, block_of<T, Rank, Order> c,
          task_options options = {}, std::source_location site = std::source_location::current()) {
  static_assert(is_matrix<Rank, Order>, "gemm takes blocks of matrices: make_matrix<T>(...), first index fastest");
  detail::require_blas_element<T>();
  detail::gemm({rt, options, site}, detail::number(alpha), {a.record(), ta}, {b.record(), tb}, detail::number(beta),
               c.record());
}

/// Lower triangle of C = alpha A A^T + beta C, of A n x k and C n x n; the rest of C stays.
template <class T, std::size_t Rank, index_order Order>
void syrk(runtime& rt, double alpha, block_of<T, Rank, Order> a, double beta, block_of<T, Rank, Order> c,
          task_options options = {}, std::source_location site = std::source_location::current()) {
  static_assert(is_matrix<Rank, Order>, "syrk takes blocks of matrices: make_matrix<T>(...), first index fastest");
  detail::require_blas_element<T>();
  detail::syrk({rt, options, site}, alpha, a.record(), beta, c.record());
}

/// B = alpha B L^-T with the lower triangle L of A, of A n x n and B m x n.
template <class T, std::size_t Rank, index_order Order>
void trsm(runtime& rt, double alpha, block_of<T, Rank, Order> a, block_of<T, Rank, Order> b, task_options options = {},
          std::source_location site = std::source_location::current()) {
  static_assert(is_matrix<Rank, Order>, "trsm takes blocks of matrices: make_matrix<T>(...), first index fastest");
  detail::require_blas_element<T>();
  detail::trsm({rt, options, site}, alpha, a.record(), b.record());
}

/// Cholesky factor of the lower triangle of A, n x n, in place; info (one element) becomes 0 or the 1-based failing
/// pivot.
template <class T, std::size_t Rank, index_order Order>
void potrf(runtime& rt, block_of<T, Rank, Order> a, block_of<std::int32_t> info, task_options options = {},
           std::source_location site = std::source_location::current()) {
  static_assert(is_matrix<Rank, Order>, "potrf takes blocks of matrices: make_matrix<T>(...), first index fastest");
  detail::require_blas_element<T>();
  detail::potrf({rt, options, site}, a.record(), info.record());
}

/// Dimension d of `to` is dimension permutation[d] of `from`: to = alpha permuted(from) + beta to. With beta == 0, `to`
/// is written without being read. Both have the same rank, and extents to_d = from_permutation[d].
template <class T, std::size_t Rank, index_order Order, std::size_t RankTo, index_order OrderTo>
void permute(runtime& rt, double alpha, block_of<T, Rank, Order> from, std::span<const std::uint8_t> permutation,
             double beta, block_of<T, RankTo, OrderTo> to, task_options options = {},
             std::source_location site = std::source_location::current()) {
  static_assert(first_is_fastest<Rank, Order> && first_is_fastest<RankTo, OrderTo>,
                "permute takes blocks whose first index is fastest: make_array<T, column_major>(...)");
  detail::require_permutable_element<T>();
  detail::permute({rt, options, site}, alpha, from.record(), permutation, beta, to.record());
}

/// C = alpha A B + beta C, summed over the labels that A and B share and C has not. A character of `of_a` labels a
/// dimension of A, first index first, and so on: "ik", "kj", "ij" is a product of matrices. A label in all three blocks
/// is a batch; one that stands twice in a block, or in one block alone, is an error (of the next fence, as are extents
/// that do not fit). With beta == 0, C is written without being read. Throws tessera::error (usage) for more than 8
/// labels.
/// @code tessera::contract(rt, 1.0, a(0, 0), "abcd", b(0, 0), "cdij", 0.0, c(0, 0), "abij"); @endcode
template <class T, std::size_t RankA, index_order OrderA, std::size_t RankB, index_order OrderB, std::size_t RankC,
          index_order OrderC>
void contract(runtime& rt, std::type_identity_t<T> alpha, block_of<T, RankA, OrderA> a, std::string_view of_a,
              block_of<T, RankB, OrderB> b, std::string_view of_b, std::type_identity_t<T> beta,
              block_of<T, RankC, OrderC> c, std::string_view of_c, task_options options = {},
              std::source_location site = std::source_location::current()) {
  static_assert(first_is_fastest<RankA, OrderA> && first_is_fastest<RankB, OrderB> && first_is_fastest<RankC, OrderC>,
                "contract takes blocks whose first index is fastest: make_array<T, column_major>(...)");
  detail::require_blas_element<T>();
  detail::contract({rt, options, site}, detail::number(alpha), {a.record(), transpose::no, of_a},
                   {b.record(), transpose::no, of_b}, detail::number(beta), {c.record(), transpose::no, of_c});
}

/// y += alpha x, element by element, of as many elements.
template <class T, std::size_t Rank, index_order Order>
void axpy(runtime& rt, std::type_identity_t<T> alpha, block_of<T, Rank, Order> x, block_of<T, Rank, Order> y,
          task_options options = {}, std::source_location site = std::source_location::current()) {
  detail::require_blas_element<T>();
  detail::axpy({rt, options, site}, detail::number(alpha), x.record(), y.record(), intent::update);
}

/// The same into private copies: such tasks commute and run at the same time.
template <class T, std::size_t Rank, index_order Order>
void axpy_accumulate(runtime& rt, std::type_identity_t<T> alpha, block_of<T, Rank, Order> x, block_of<T, Rank, Order> y,
                     task_options options = {}, std::source_location site = std::source_location::current()) {
  detail::require_blas_element<T>();
  detail::axpy({rt, options, site}, detail::number(alpha), x.record(), y.record(), intent::accumulate);
}

/// x *= alpha.
template <class T, std::size_t Rank, index_order Order>
void scal(runtime& rt, std::type_identity_t<T> alpha, block_of<T, Rank, Order> x, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::require_blas_element<T>();
  detail::scal({rt, options, site}, detail::number(alpha), x.record());
}

/// Every element becomes `value`, exactly, whatever the type.
template <class T, std::size_t Rank, index_order Order>
void fill(runtime& rt, block_of<T, Rank, Order> x, std::type_identity_t<T> value, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::fill({rt, options, site}, x.record(), detail::element_of(value));
}

// ---- over arrays ----------------------------------------------------------------------------------------------------

namespace detail {
template <class>
inline constexpr bool is_elements = false;
template <class T, std::size_t Rank, index_order Order>
inline constexpr bool is_elements<array<T, Rank, Order>> = true;
template <class T, std::size_t Rank>
inline constexpr bool is_elements<array_rows<T, Rank>> = true;
template <class>
struct element_in;
template <class T, std::size_t Rank, index_order Order>
struct element_in<array<T, Rank, Order>> {
  using type = T;
};
template <class T, std::size_t Rank>
struct element_in<array_rows<T, Rank>> {
  using type = T;
};
}  // namespace detail

/// An array, or rows of one: what operations over elements take instead of a block. They submit a task for each block:
/// those that the array was made with, else those that it is cut into now; two arrays without blocks are cut alike.
/// Throws tessera::error (usage): rows that there are not, or are parts of blocks that stay; two arrays with other
/// extents, or other blocks of their own.
template <class X>
concept array_or_rows = detail::is_elements<X>;
/// Its elements.
template <array_or_rows X>
using element_in = typename detail::element_in<X>::type;

/// Every element becomes `value`: of a block, for each of its blocks.
template <array_or_rows X>
void fill(runtime& rt, const X& x, element_in<X> value, task_options options = {},
          std::source_location site = std::source_location::current()) {
  const detail::submit_call call{rt, options, site};
  const std::array uses{detail::elements_of(x, intent::write)};
  detail::over_blocks(rt, {"fill", site}, uses,
                      [&](auto blocks) { detail::fill(call, *blocks[0], detail::element_of(value)); });
}

/// x *= alpha, for each of its blocks.
template <array_or_rows X>
void scal(runtime& rt, element_in<X> alpha, const X& x, task_options options = {},
          std::source_location site = std::source_location::current()) {
  detail::require_blas_element<element_in<X>>();
  const detail::submit_call call{rt, options, site};
  const std::array uses{detail::elements_of(x, intent::update)};
  detail::over_blocks(rt, {"scal", site}, uses,
                      [&](auto blocks) { detail::scal(call, detail::number(alpha), *blocks[0]); });
}

/// y += alpha x, element by element, for each of their blocks.
template <array_or_rows X, array_or_rows Y>
void axpy(runtime& rt, element_in<Y> alpha, const X& x, const Y& y, task_options options = {},
          std::source_location site = std::source_location::current()) {
  static_assert(std::is_same_v<element_in<X>, element_in<Y>>, "axpy is of arrays of one element type");
  detail::require_blas_element<element_in<X>>();
  const detail::submit_call call{rt, options, site};
  const std::array uses{detail::elements_of(x, intent::read), detail::elements_of(y, intent::update)};
  detail::over_blocks(rt, {"axpy", site}, uses, [&](auto blocks) {
    detail::axpy(call, detail::number(alpha), *blocks[0], *blocks[1], intent::update);
  });
}

}  // namespace tessera
