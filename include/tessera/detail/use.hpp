#pragma once
// Blocks with intents: what a submission names.
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <type_traits>

#include "core/block/access.hpp"
#include "core/block/intent.hpp"
#include "core/block/shape.hpp"
#include "tessera/detail/combine.hpp"
#include "tessera/detail/view.hpp"

namespace tessera {

/// A block and how a task uses it, of any element type: for submissions whose number of blocks is known at run time
/// only. A use converts to it: `std::vector<block_access> uses{read(x(0)), update(y(0))}`.
using block_access = block::access;

class runtime;
template <class T, std::size_t Rank, index_order Order>
class host_view;

namespace detail {
/// Extents, the fastest one first.
const shape& stored_extents_of(const block::record& b) noexcept;
std::uint64_t bytes_of(const block::record& b) noexcept;
/// Extents of a block in elements, in the order of the program, and as the runtime has them: the fastest one first, of
/// elements in its types.
template <class T, index_order Order>
shape stored_shape(const shape& extents) {
  std::array<std::int64_t, max_rank> stored{1};
  for (std::size_t d = 0; d < extents.rank(); ++d) stored[stored_dimension<Order>(d, extents.rank())] = extents[d];
  stored[0] *= stored_per_element<T>;
  const std::size_t rank = is_number<T> || extents.rank() > 0 ? extents.rank() : 1;
  return shape(std::span<const std::int64_t>(stored.data(), rank));
}
template <class T, std::size_t Rank, index_order Order>
shape shape_in_elements(const shape& stored) {
  std::array<std::int64_t, max_rank> extents{};
  const std::size_t rank = Rank == 0 ? 0 : stored.rank();
  for (std::size_t k = 0; k < rank; ++k)
    extents[stored_dimension<Order>(k, rank)] = k == 0 ? stored[k] / stored_per_element<T> : stored[k];
  return shape(std::span<const std::int64_t>(extents.data(), rank));
}
}  // namespace detail

/// A handle to one block of an array. Plain data; valid while the array lives.
/// @tparam T  element type
/// @tparam Rank  dimensions; any_rank: known at run time only
/// @tparam Order  which index is fastest
template <class T, std::size_t Rank = 1, index_order Order = row_major>
class block_of {
 public:
  /// Made by array::block and array::operator().
  block_of(runtime& of, block::record& record) noexcept : m_runtime(&of), m_record(&record) {}
  block::record& record() const noexcept { return *m_record; }  ///< what the runtime knows of it; for the runtime
  /// Elements per dimension.
  shape extents() const { return detail::shape_in_elements<T, Rank, Order>(detail::stored_extents_of(*m_record)); }
  std::uint64_t bytes() const noexcept { return detail::bytes_of(*m_record); }  ///< of all elements together
  /// Elements per dimension, the fastest one first; for the runtime.
  const shape& stored_extents() const noexcept { return detail::stored_extents_of(*m_record); }

  /// Waits for the tasks that make its current version, and shows it on the host. Meanwhile the calling thread runs
  /// tasks. Throws the failure of the task that should have made it, and tessera::error: task for a block that was
  /// never written, usage for one whose array has ended. Release the view before fence. @param site  for messages
  host_view<const T, Rank, Order> read(std::source_location site = std::source_location::current()) const;
  /// The same for overwriting all elements: nothing is fetched, and what the view shows at first is unspecified. Waits
  /// for the tasks that use the block.
  host_view<T, Rank, Order> write(std::source_location site = std::source_location::current()) const;
  /// The same for changing some elements: the current version is fetched first. Waits for the tasks that use the block.
  host_view<T, Rank, Order> update(std::source_location site = std::source_location::current()) const;

 private:
  runtime* m_runtime;
  block::record* m_record;
};

/// A block and how a task uses it.
template <class T, intent How, std::size_t Rank = 1, index_order Order = row_major>
struct use {
  using element = std::conditional_t<How == intent::read, const T, T>;  ///< const where the task may only read
  using view_type = view<element, Rank, Order>;                         ///< what the task's function gets for it
  static constexpr intent how = How;                                    ///< known when the program is compiled
  block::record* block;                                                 ///< not owned
  /// For submissions that take a list.
  operator block_access() const noexcept {
    return {.block = block, .version = 0, .intent = How, .flags = 0, .space = 0};
  }
};

/// The same for what is combined in private copies.
template <class T, std::size_t Rank = 1, index_order Order = row_major>
struct combined_use {
  using element = T;                                 ///< of the private copy
  using view_type = view<T, Rank, Order>;            ///< what the task's function gets for it
  static constexpr intent how = intent::accumulate;  ///< known when the program is compiled
  block::record* block;                              ///< not owned
  block::combination_number combination;             ///< how copies become one
  /// For submissions that take a list.
  operator block_access() const noexcept {
    return {.block = block, .version = 0, .intent = intent::accumulate, .flags = 0, .space = combination};
  }
};

/// What read, write, update, commute, accumulate and scratch make.
template <class T>
concept block_use = requires(const T& u) {
  typename T::view_type;
  { T::how } -> std::convertible_to<intent>;
  { u } -> std::convertible_to<block_access>;
};

/// Several of them, in one object.
template <class T>
concept block_access_list = std::is_convertible_v<const T&, std::span<const block_access>>;

/// The task sees the current version and does not change it. Readers of one version run at the same time.
template <class T, std::size_t Rank, index_order Order>
use<T, intent::read, Rank, Order> read(block_of<T, Rank, Order> b) noexcept {
  return {&b.record()};
}
/// The task overwrites every element: nothing is fetched, and what the view shows at first is unspecified.
template <class T, std::size_t Rank, index_order Order>
use<T, intent::write, Rank, Order> write(block_of<T, Rank, Order> b) noexcept {
  return {&b.record()};
}
/// The task sees the current version and may change it.
template <class T, std::size_t Rank, index_order Order>
use<T, intent::update, Rank, Order> update(block_of<T, Rank, Order> b) noexcept {
  return {&b.record()};
}
/// The same, and tasks that commute on a block update it in any order, one at a time: whichever is ready first. Other
/// uses come before or behind all of them, as submitted. In the order of submission in recordings, and with
/// runtime.deterministic.
template <class T, std::size_t Rank, index_order Order>
use<T, intent::commute, Rank, Order> commute(block_of<T, Rank, Order> b) noexcept {
  return {&b.record()};
}
/// The task sees a private copy and adds to it; copies start at zero and are summed before the next other use. Blocks
/// of bytes have no sums.
template <class T, std::size_t Rank, index_order Order>
use<T, intent::accumulate, Rank, Order> accumulate(block_of<T, Rank, Order> b) noexcept {
  static_assert(is_number<T> && !std::is_same_v<T, std::uint8_t>,
                "blocks of bytes and of types of the program are not added up: back ends sum other types");
  return {&b.record()};
}
/// The same with another operation than addition: minimum, maximum, or one of the program's own (see combines). Copies
/// start at its identity, and are combined on the host. Accumulates with another operation, as every other use, see
/// the block combined.
/// @code rt.submit("largest", find_largest, tessera::read(x(k)), tessera::accumulate(most(0), tessera::maximum));
/// @endcode
template <class T, std::size_t Rank, index_order Order, class Operation>
combined_use<T, Rank, Order> accumulate(block_of<T, Rank, Order> b, Operation) {
  detail::require_combines<Operation, T>();
  if constexpr (is_number<T> && combines<Operation, T>)
    return {&b.record(), detail::combination_number_of<Operation, T>()};
  else
    return {};
}
/// Memory of the block's size without contents, before and after: what was in the block is lost.
template <class T, std::size_t Rank, index_order Order>
use<T, intent::scratch, Rank, Order> scratch(block_of<T, Rank, Order> b) noexcept {
  return {&b.record()};
}

}  // namespace tessera
