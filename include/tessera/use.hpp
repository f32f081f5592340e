#pragma once
// Blocks with intents: what a submission names.
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/block/access.hpp"
#include "core/block/intent.hpp"
#include "core/block/shape.hpp"
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

/// What read, write, update, accumulate and scratch make.
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
/// The task sees a private copy and adds to it; copies start at zero and are summed before the next other use. Blocks
/// of bytes have no sums.
template <class T>
use<T, intent::accumulate> accumulate(block_of<T> b) noexcept {
  static_assert(!std::is_same_v<T, std::uint8_t>, "blocks of bytes are not accumulated: back ends sum other types");
  return {&b.record()};
}
/// Memory of the block's size without contents, before and after: what was in the block is lost.
template <class T>
use<T, intent::scratch> scratch(block_of<T> b) noexcept {
  return {&b.record()};
}

}  // namespace tessera
