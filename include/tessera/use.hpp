#pragma once
// Blocks with intents: what a submission names.
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/block/access.hpp"
#include "core/block/intent.hpp"
#include "core/block/shape.hpp"
#include "tessera/combine.hpp"
#include "tessera/view.hpp"

namespace tessera {

/// A block and how a task uses it, of any element type: for submissions whose number of blocks is known at run time
/// only. A use converts to it: `std::vector<block_access> uses{read(x(0)), update(y(0))}`.
using block_access = block::access;

namespace detail {
const shape& extents_of(const block::record& b) noexcept;
std::uint64_t bytes_of(const block::record& b) noexcept;
}  // namespace detail

/// A handle to one block of an array. Plain data; valid while the array lives.
/// @tparam T  element type
template <class T>
class block_of {
 public:
  /// Made by array::block and array::operator().
  explicit block_of(block::record& record) noexcept : m_record(&record) {}
  block::record& record() const noexcept { return *m_record; }  ///< what the runtime knows of it; for the runtime
  const shape& extents() const noexcept { return detail::extents_of(*m_record); }  ///< elements per dimension
  std::uint64_t bytes() const noexcept { return detail::bytes_of(*m_record); }     ///< of all elements together

 private:
  block::record* m_record;
};

/// A block and how a task uses it.
template <class T, intent How>
struct use {
  using element = std::conditional_t<How == intent::read, const T, T>;  ///< const where the task may only read
  using view_type = view<element>;                                      ///< what the task's function gets for it
  static constexpr intent how = How;                                    ///< known when the program is compiled
  block::record* block;                                                 ///< not owned
  /// For submissions that take a list.
  operator block_access() const noexcept {
    return {.block = block, .version = 0, .intent = How, .flags = 0, .space = 0};
  }
};

/// The same for what is combined in private copies.
template <class T>
struct combined_use {
  using element = T;                                 ///< of the private copy
  using view_type = view<T>;                         ///< what the task's function gets for it
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
template <class T>
use<T, intent::read> read(block_of<T> b) noexcept {
  return {&b.record()};
}
/// The task overwrites every element: nothing is fetched, and what the view shows at first is unspecified.
template <class T>
use<T, intent::write> write(block_of<T> b) noexcept {
  return {&b.record()};
}
/// The task sees the current version and may change it.
template <class T>
use<T, intent::update> update(block_of<T> b) noexcept {
  return {&b.record()};
}
/// The same, and tasks that commute on a block update it in any order, one at a time: whichever is ready first. Other
/// uses come before or behind all of them, as submitted. In the order of submission in recordings, and with
/// runtime.deterministic.
template <class T>
use<T, intent::commute> commute(block_of<T> b) noexcept {
  return {&b.record()};
}
/// The task sees a private copy and adds to it; copies start at zero and are summed before the next other use. Blocks
/// of bytes have no sums.
template <class T>
use<T, intent::accumulate> accumulate(block_of<T> b) noexcept {
  static_assert(!std::is_same_v<T, std::uint8_t>, "blocks of bytes are not added up: back ends sum other types");
  return {&b.record()};
}
/// The same with another operation than addition: minimum, maximum, or one of the program's own (see combines). Copies
/// start at its identity, and are combined on the host. Accumulates with another operation, as every other use, see
/// the block combined.
/// @code rt.submit("largest", find_largest, tessera::read(x(k)), tessera::accumulate(most(0), tessera::maximum));
/// @endcode
template <class T, class Operation>
combined_use<T> accumulate(block_of<T> b, Operation) {
  static_assert(std::is_empty_v<Operation>,
                "an operation to accumulate with has no data: copies are combined long after the submission; keep "
                "values in a block");
  static_assert(
      combines<Operation, T>,
      "an operation to accumulate with is called with two elements and returns one, and its static identity() "
      "returns the element that changes nothing: see tessera::combines");
  if constexpr (combines<Operation, T>)
    return {&b.record(), detail::combination_number_of<Operation, T>()};
  else
    return {};
}
/// Memory of the block's size without contents, before and after: what was in the block is lost.
template <class T>
use<T, intent::scratch> scratch(block_of<T> b) noexcept {
  return {&b.record()};
}

}  // namespace tessera
