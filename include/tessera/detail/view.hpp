#pragma once
// A block's elements as a task or the program sees them on the host.
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "core/block/element_type.hpp"
#include "core/block/shape.hpp"

namespace tessera {

/// Which index is fastest in memory: the last one, as in C and C++. What loops are written for, and the default.
struct row_major {};
/// Which index is fastest in memory: the first one, as in Fortran. What linear algebra is written for.
struct column_major {};

/// One of the two.
template <class Order>
concept index_order = std::same_as<Order, row_major> || std::same_as<Order, column_major>;

/// The rank of arrays, blocks and views whose number of dimensions is known at run time only.
inline constexpr std::size_t any_rank = ~std::size_t{0};

namespace detail {
/// Where the dimension of an order stands among extents whose first one is fastest, as the runtime and plugins have
/// them.
template <index_order Order>
constexpr std::size_t stored_dimension(std::size_t dimension, std::size_t rank) noexcept {
  if constexpr (std::same_as<Order, row_major>)
    return rank - 1 - dimension;
  else
    return dimension;
}
}  // namespace detail

/// Dense elements. Does not own; valid while the task runs or the host_view lives.
/// @tparam T  element type; const for blocks that are only read
/// @tparam Rank  dimensions; any_rank: known at run time only, and then there are no indices but positions
/// @tparam Order  which index is fastest
template <class T, std::size_t Rank = 1, index_order Order = row_major>
class view {
 public:
  /// Over the elements at `data`; both arguments must outlive the view. @param stored  extents, the fastest one first
  view(T* data, const shape& stored) noexcept : m_data(data), m_stored(&stored) {}
  /// The same elements: of so few dimensions the order says nothing.
  template <std::size_t OtherRank, index_order Other>
  requires(Rank <= 1 && OtherRank == Rank && !std::same_as<Order, Other>) view(const view<T, OtherRank, Other>& other)
  noexcept  // NOLINT: converts
      : view(other.data(), other.stored_extents()) {}
  /// The same elements, without indices.
  template <std::size_t OtherRank, index_order Other>
  requires(Rank == any_rank && !(OtherRank == any_rank && std::same_as<Order, Other>))
      view(const view<T, OtherRank, Other>& other)
  noexcept  // NOLINT: converts
      : view(other.data(), other.stored_extents()) {}

  T* data() const noexcept { return m_data; }  ///< the first; aligned to 256 bytes unless adopted
  std::int64_t size() const noexcept { return m_stored->count() / stored_per_element<T>; }  ///< elements
  /// Dimensions.
  std::size_t rank() const noexcept {
    if constexpr (Rank == any_rank)
      return m_stored->rank();
    else
      return Rank;
  }
  /// Extent of a dimension; 1 beyond the rank.
  std::int64_t extent(std::size_t dimension) const noexcept {
    return dimension < rank() ? stored_extent(detail::stored_dimension<Order>(dimension, rank())) : 1;
  }
  T* begin() const noexcept { return m_data; }         ///< all elements in the order of memory
  T* end() const noexcept { return m_data + size(); }  ///< behind the last element
  /// By position in memory. Not checked.
  T& operator[](std::int64_t position) const noexcept { return m_data[position]; }
  /// By indices, 0-based, as many as the rank. Not checked.
  template <std::convertible_to<std::int64_t>... Index>
  T& operator()(Index... index) const noexcept {
    static_assert(Rank != any_rank, "a view of any rank has no indices: take view<T, RANK> or view<T, RANK, ORDER>");
    static_assert(Rank == any_rank || sizeof...(Index) == Rank, "a view takes as many indices as its rank");
    if constexpr (sizeof...(Index) == 0) {
      return *m_data;
    } else {
      const std::int64_t at[] = {static_cast<std::int64_t>(index)...};
      std::int64_t position = 0;
      for (std::size_t k = sizeof...(Index); k-- > 0;)
        position = position * stored_extent(k) + at[detail::stored_dimension<Order>(k, sizeof...(Index))];
      return m_data[position];
    }
  }
  /// Extents, the fastest one first; for the runtime.
  const shape& stored_extents() const noexcept { return *m_stored; }

 private:
  std::int64_t stored_extent(std::size_t k) const noexcept {
    return k == 0 ? (*m_stored)[k] / stored_per_element<T> : (*m_stored)[k];
  }
  T* m_data;
  const shape* m_stored;
};

/// What a task sees of a block of a matrix: two indices, the first one fastest.
template <class T>
using matrix_view = view<T, 2, column_major>;

}  // namespace tessera
