#pragma once
// Arrays and how a region uses them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>

#include "tessera/detail/region_array.hpp"

namespace tessera {

/// Which rows of an array one iteration i uses.
struct access_pattern {
  /// The forms that it has.
  enum class kind : std::uint8_t {
    chunk,  ///< row i
    halo,   ///< rows i - first to i + last, as far as there are any
    whole,  ///< any row
    rows    ///< the same rows in each iteration
  };
  kind which = kind::chunk;      ///< one of them
  std::int64_t first = 0;        ///< of rows: the first one; of halo: how many before row i
  std::int64_t last = 0;         ///< of rows: the one after the last; of halo: how many behind row i
  std::int64_t surely_from = 0;  ///< of halo: row i + surely_from is read in each iteration, so that it must be there
  std::int64_t surely_to = 0;    ///< likewise; 0 says nothing

  /// The same, of which the body reads rows i + from to i + to whatever happens: a region is refused where an iteration
  /// has none there, instead of reading past the array. tessera-translate knows it. @param from  at most 0
  /// @param to  at least 0
  constexpr access_pattern surely(std::int64_t from, std::int64_t to) const noexcept {
    return {which, first, last, from, to};
  }
};
/// Row i, and no other.
inline constexpr access_pattern chunk{access_pattern::kind::chunk, 0, 0};
/// Any row.
inline constexpr access_pattern whole{access_pattern::kind::whole, 0, 0};
/// Row i and `width` more on each side, as far as there are any: the body looks where the array ends.
constexpr access_pattern halo(std::int64_t width) noexcept { return {access_pattern::kind::halo, width, width}; }
/// Rows i - before to i + behind, as far as there are any. One of them may be negative, where row i is not used itself:
/// `halo(-1, 2)` are the two rows behind row i.
constexpr access_pattern halo(std::int64_t before, std::int64_t behind) noexcept {
  return {access_pattern::kind::halo, before, behind};
}
/// Row i + `distance`, if there is one.
constexpr access_pattern offset(std::int64_t distance) noexcept {
  return {access_pattern::kind::halo, -distance, distance};
}
/// Rows [first, last) in each iteration.
constexpr access_pattern rows(std::int64_t first, std::int64_t last) noexcept {
  return {access_pattern::kind::rows, first, last};
}

namespace detail {
/// The rows of an array that was given blocks. Throws as region_use's read.
std::shared_ptr<hierarchy::array_storage> rows_of(const array_blocks& of, std::source_location site);
template <std::size_t Rank, index_order Order>
std::shared_ptr<hierarchy::array_storage> rows_in_order(const array_blocks& of, std::source_location site) {
  static_assert(std::is_same_v<Order, row_major> || Rank <= 1,
                "a region goes over the rows of arrays whose last index is fastest: make_array<T>(...)");
  return rows_of(of, site);
}
}  // namespace detail

/// An array and how a region uses it.
/// @tparam T  element type; const where it is only read
template <class T>
struct region_use {
  using argument = region_view<T>;                  ///< what the body gets for it
  std::shared_ptr<hierarchy::array_storage> array;  ///< the array
  tessera::intent intent;                           ///< read, write or update
  access_pattern pattern;                           ///< which rows
};

/// The body reads it.
template <class T>
region_use<const T> read(const region_array<T>& a, access_pattern pattern = chunk) {
  return {a.handle().storage(), intent::read, pattern};
}
/// The body writes every element of the rows that the loop goes over, and reads none.
template <class T>
region_use<T> write(const region_array<T>& a, access_pattern pattern = chunk) {
  return {a.handle().storage(), intent::write, pattern};
}
/// The body reads and writes it.
template <class T>
region_use<T> update(const region_array<T>& a, access_pattern pattern = chunk) {
  return {a.handle().storage(), intent::update, pattern};
}

/// The same of the rows of an array that was given blocks: those of its first dimension. The loop is split at their
/// borders, so that each task has whole blocks of what it writes. Throws tessera::error (usage) for an array of no or
/// more than three dimensions, and one that is cut along another dimension too. @param site  for messages
template <class T, std::size_t Rank, index_order Order>
region_use<const T> read(const array<T, Rank, Order>& a, access_pattern pattern = chunk,
                         std::source_location site = std::source_location::current()) {
  return {detail::rows_in_order<Rank, Order>(a.blocks(), site), intent::read, pattern};
}
/// The body writes every element of the rows that the loop goes over, and reads none.
template <class T, std::size_t Rank, index_order Order>
region_use<T> write(const array<T, Rank, Order>& a, access_pattern pattern = chunk,
                    std::source_location site = std::source_location::current()) {
  return {detail::rows_in_order<Rank, Order>(a.blocks(), site), intent::write, pattern};
}
/// The body reads and writes it.
template <class T, std::size_t Rank, index_order Order>
region_use<T> update(const array<T, Rank, Order>& a, access_pattern pattern = chunk,
                     std::source_location site = std::source_location::current()) {
  return {detail::rows_in_order<Rank, Order>(a.blocks(), site), intent::update, pattern};
}

}  // namespace tessera
