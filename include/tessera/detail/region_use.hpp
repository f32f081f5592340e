#pragma once
// Arrays and how a region uses them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>

#include "tessera/detail/array.hpp"

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

/// An array and how a region uses it: what `read(x)` and its like make. A task that names it so has all rows.
/// @tparam T  element type; const where it is only read
template <class T, std::size_t Rank = 1>
struct region_use {
  using argument = rows_view<T, Rank>;              ///< what the body gets for it
  using view_type = named_rows_view<T, Rank>;       ///< what a task's function gets for it
  std::shared_ptr<hierarchy::array_storage> array;  ///< the array
  tessera::intent intent;                           ///< read, write or update
  access_pattern pattern;                           ///< which rows
};

namespace detail {
template <class Used, class T, std::size_t Rank, index_order Order>
region_use<Used, Rank> use_of(const array<T, Rank, Order>& a, intent how, const access_pattern& pattern,
                              std::source_location site) {
  require_rows<Rank, Order>();
  return {a.handle().rows(site), how, pattern};
}
}  // namespace detail

/// Rows of an array and how a task uses them: what `read(x.rows(first, last))` and its like make. Where a region only
/// reads them, they are rows that each iteration reads.
template <class T, intent How, std::size_t Rank = 1>
struct rows_use {
  using element = std::conditional_t<How == intent::read, const T, T>;  ///< const where the task may only read
  using view_type = named_rows_view<element, Rank>;                     ///< what the task's function gets for it
  std::shared_ptr<hierarchy::array_storage> array;                      ///< the array
  std::int64_t first;                                                   ///< the first row
  std::int64_t last;                                                    ///< the row after the last
  /// In a region.
  template <class Model>
  requires(How == intent::read) region_use<const T, Rank> resolve(Model&, std::source_location)
  const { return {array, intent::read, tessera::rows(first, last)}; }
};

/// The same for what is combined in private copies.
template <class T, std::size_t Rank = 1>
struct combined_rows_use {
  using element = T;                                ///< of the private copy
  using view_type = named_rows_view<T, Rank>;       ///< what the task's function gets for it
  std::shared_ptr<hierarchy::array_storage> array;  ///< the array
  std::int64_t first;                               ///< the first row
  std::int64_t last;                                ///< the row after the last
  block::combination_number combination;            ///< how copies become one
};

/// The task sees these rows as they are, by their indices in the array, and does not change them. Throws
/// tessera::error (usage) for blocks that are no whole rows. @param site  for messages
template <class T, std::size_t Rank>
rows_use<T, intent::read, Rank> read(const array_rows<T, Rank>& rows,
                                     std::source_location site = std::source_location::current()) {
  return {rows.array().handle().rows(site), rows.first(), rows.last()};
}
/// The task overwrites every element of them. Of an array without blocks they become blocks of their own, unless they
/// are already; of one with blocks, those that have other rows too keep them.
template <class T, std::size_t Rank>
rows_use<T, intent::write, Rank> write(const array_rows<T, Rank>& rows,
                                       std::source_location site = std::source_location::current()) {
  return {rows.array().handle().rows(site), rows.first(), rows.last()};
}
/// The task sees them as they are and may change them.
template <class T, std::size_t Rank>
rows_use<T, intent::update, Rank> update(const array_rows<T, Rank>& rows,
                                         std::source_location site = std::source_location::current()) {
  return {rows.array().handle().rows(site), rows.first(), rows.last()};
}

/// The same, and tasks that commute on rows update them in any order, one at a time: whichever is ready first. Of an
/// array in blocks it is their blocks that they have one at a time.
template <class T, std::size_t Rank>
rows_use<T, intent::commute, Rank> commute(const array_rows<T, Rank>& rows,
                                           std::source_location site = std::source_location::current()) {
  return {rows.array().handle().rows(site), rows.first(), rows.last()};
}
/// The task sees a private copy of them and adds to it; copies start at zero and are summed before the next other use.
template <class T, std::size_t Rank>
rows_use<T, intent::accumulate, Rank> accumulate(const array_rows<T, Rank>& rows,
                                                 std::source_location site = std::source_location::current()) {
  static_assert(is_number<T> && !std::is_same_v<T, std::uint8_t>,
                "rows of bytes and of types of the program are not added up: back ends sum other types");
  return {rows.array().handle().rows(site), rows.first(), rows.last()};
}
/// The same with another operation than addition, which copies start at the identity of: see combines.
template <class T, std::size_t Rank, class Operation>
combined_rows_use<T, Rank> accumulate(const array_rows<T, Rank>& rows, Operation,
                                      std::source_location site = std::source_location::current()) {
  detail::require_combines<Operation, T>();
  if constexpr (is_number<T> && combines<Operation, T>)
    return {rows.array().handle().rows(site), rows.first(), rows.last(), detail::combination_number_of<Operation, T>()};
  else
    return {};
}
/// Memory of their size without contents, before and after: what was in them is lost. Of an array in blocks they are
/// whole ones.
template <class T, std::size_t Rank>
rows_use<T, intent::scratch, Rank> scratch(const array_rows<T, Rank>& rows,
                                           std::source_location site = std::source_location::current()) {
  return {rows.array().handle().rows(site), rows.first(), rows.last()};
}

namespace detail {
template <class T, std::size_t Rank, index_order Order>
array_rows<T, Rank> all_rows_of(const array<T, Rank, Order>& a, std::source_location site) {
  require_rows<Rank, Order>();
  return {array<T, Rank>(a.handle()), 0, a.handle().stored_rows(site).rows};
}
}  // namespace detail

/// All of its rows, in a task. Throws tessera::error (usage) for blocks that are no whole rows.
template <class T, std::size_t Rank, index_order Order>
rows_use<T, intent::commute, Rank> commute(const array<T, Rank, Order>& a,
                                           std::source_location site = std::source_location::current()) {
  return commute(detail::all_rows_of(a, site), site);
}
/// Likewise.
template <class T, std::size_t Rank, index_order Order>
rows_use<T, intent::accumulate, Rank> accumulate(const array<T, Rank, Order>& a,
                                                 std::source_location site = std::source_location::current()) {
  return accumulate(detail::all_rows_of(a, site), site);
}
/// Likewise.
template <class T, std::size_t Rank, index_order Order, class Operation>
combined_rows_use<T, Rank> accumulate(const array<T, Rank, Order>& a, Operation operation,
                                      std::source_location site = std::source_location::current()) {
  return accumulate(detail::all_rows_of(a, site), operation, site);
}
/// Likewise.
template <class T, std::size_t Rank, index_order Order>
rows_use<T, intent::scratch, Rank> scratch(const array<T, Rank, Order>& a,
                                           std::source_location site = std::source_location::current()) {
  return scratch(detail::all_rows_of(a, site), site);
}

/// The body reads it. Of an array in blocks the loop is split at their borders, so that each task has whole blocks of
/// what it writes. Throws tessera::error (usage) for blocks that are no whole rows, since they are cut along another
/// dimension too, and for an array of any rank with none or more than three. @param site  for messages
template <class T, std::size_t Rank, index_order Order>
region_use<const T, Rank> read(const array<T, Rank, Order>& a, access_pattern pattern = chunk,
                               std::source_location site = std::source_location::current()) {
  return detail::use_of<const T>(a, intent::read, pattern, site);
}
/// The body writes every element of the rows that the loop goes over, and reads none.
template <class T, std::size_t Rank, index_order Order>
region_use<T, Rank> write(const array<T, Rank, Order>& a, access_pattern pattern = chunk,
                          std::source_location site = std::source_location::current()) {
  return detail::use_of<T>(a, intent::write, pattern, site);
}
/// The body reads and writes it.
template <class T, std::size_t Rank, index_order Order>
region_use<T, Rank> update(const array<T, Rank, Order>& a, access_pattern pattern = chunk,
                           std::source_location site = std::source_location::current()) {
  return detail::use_of<T>(a, intent::update, pattern, site);
}

}  // namespace tessera
