#pragma once
// The iterations of a loop of the program, counted as C++ runs them: for translated directives.
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include "tessera/detail/region_loop.hpp"

namespace tessera::directives {

/// How a loop's condition compares its index with its bound: <, <=, >, >=, !=.
enum class loop_test {
  less,
  up_to,
  greater,
  down_to,
  differs
};

/// What a loop does with its step.
enum class loop_step {
  add,
  subtract
};

/// A loop of the program, for messages.
struct loop_place {
  const char* index;     ///< the variable's name
  std::uint32_t line;    ///< of the condition
  std::uint32_t column;  ///< of the condition
};

/// What a loop's head becomes.
struct loop_range {
  loop_bounds bounds;  ///< of no iterations where there is a fault
  std::string fault;   ///< why a region cannot run its iterations; empty: it can
  std::string where;   ///< for messages: "region at main.cpp:12:20"
};

namespace detail {

/// A loop's head, apart from what its comparison means.
struct loop_head {
  std::uint64_t first;  ///< the first index, modulo 2^64
  std::uint64_t step;   ///< modulo 2^64
  loop_step does;       ///< with it
  std::uint32_t bits;   ///< of the index
  bool is_signed;       ///< whether the index is
  bool overflows;       ///< leaving the index's range is not defined; else it wraps around
  loop_test test;       ///< when the loop goes on
  std::int64_t near;    ///< the bound, about: where the search for the end begins
};

/// An index beside the bound: -1, 0 or 1 as `index < bound`, `index == bound` or `index > bound` holds, 2: none. Where
/// it wraps or rounds, it keeps the order of indices of one sign.
using loop_compare = int (*)(const void* bound, std::uint64_t index);

/// The iterations of C++. A fault: the loop does not end before its index leaves the range of its type, or it has
/// indices that no region counts to.
/// @param bound  for `compare`
loop_range range_of(const loop_head& head, loop_compare compare, const void* bound);

/// Throws tessera::error (usage) for a fault.
void check_loop(const loop_range& loop);

#pragma GCC diagnostic push  // the program's own conversions, of which its compiler may have warned there
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"

template <class Index, class Bound>
int compare_index(const void* with, std::uint64_t index) {
  const auto i = static_cast<Index>(index);
  const Bound& bound = *static_cast<const Bound*>(with);
  return i < bound ? -1 : i == bound ? 0 : i > bound ? 1 : 2;
}

template <class Bound>
std::int64_t near_of(const Bound& bound) {
  if constexpr (std::is_floating_point_v<Bound>)
    return bound > Bound(-9e18) && bound < Bound(9e18) ? static_cast<std::int64_t>(bound) : 0;
  else
    return static_cast<std::int64_t>(bound);
}

#pragma GCC diagnostic pop

/// "region at main.cpp:12:20"
std::string place_of_loop(const loop_place& place, const std::source_location& site);

}  // namespace detail

/// The head of `for (Index i = first; i < bound; i += step)`. It becomes the arguments that it has in the program,
/// promoted: `loop<short>({"i", 12, 20}, 0, loop_test::less, +(n), loop_step::add, +(1))`.
/// @tparam Index  an integer type of up to 64 bits, not bool
/// @tparam Bound  of any type that an Index is compared with
/// @tparam Step  an integer type
template <class Index, class Bound, class Step>
loop_range loop(const loop_place& place, std::type_identity_t<Index> first, loop_test test, Bound bound, loop_step does,
                Step step, std::source_location site = std::source_location::current()) {
  static_assert(std::is_integral_v<Index> && !std::is_same_v<Index, bool> && sizeof(Index) <= sizeof(std::uint64_t));
  static_assert(!std::is_floating_point_v<Step>, "a step is a whole number");
  using sum = decltype(first + step);
  const detail::loop_head head{static_cast<std::uint64_t>(first),
                               static_cast<std::uint64_t>(step),
                               does,
                               8 * sizeof(Index),
                               std::is_signed_v<Index>,
                               std::is_signed_v<sum> && sizeof(sum) == sizeof(Index),
                               test,
                               detail::near_of(bound)};
  loop_range range = detail::range_of(head, &detail::compare_index<Index, Bound>, &bound);
  if (!range.fault.empty()) {
    range.fault = "the loop over '" + std::string(place.index) + "' " + range.fault;
    range.where = detail::place_of_loop(place, site);
  }
  return range;
}

/// The iterations of loops that a region runs, the outermost first. Throws tessera::error (usage) for a loop that a
/// region cannot run, unless one around it has no iterations.
template <class... Inner>
iteration_space<1 + sizeof...(Inner)> iterations(const loop_range& outer, const Inner&... inner) {
  iteration_space<1 + sizeof...(Inner)> space;
  bool runs = true;
  const auto take = [&](const loop_range& one) {
    if (runs) detail::check_loop(one);
    runs = runs && one.bounds.begin != one.bounds.end;
    return runs ? one.bounds : loop_bounds{0, 0, 1};
  };
  space.rows = take(outer);
  [[maybe_unused]] std::size_t k = 0;
  ((space.inner[k++] = take(inner)), ...);
  return space;
}

}  // namespace tessera::directives
