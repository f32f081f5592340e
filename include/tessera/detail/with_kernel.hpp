#pragma once
// Bodies of regions that devices run too.
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tessera/detail/region_loop.hpp"

namespace tessera {

/// Loops that the text of a body has inside those of the region: one work item of a device for each of their indices.
/// Made by inner.
/// @tparam Depth  loops, 0 to 2
template <std::size_t Depth>
struct inner_loops {
  std::array<loop_bounds, Depth> loops{};  ///< steps of 1; the last one is innermost
};

namespace detail {
[[noreturn]] void refuse_inner(std::int64_t count, std::source_location site);
}

/// One more index, 0 to count - 1. Throws tessera::error (usage) for a count below 0. @param site  for messages
constexpr inner_loops<1> inner(std::int64_t count, std::source_location site = std::source_location::current()) {
  if (count < 0) detail::refuse_inner(count, site);
  return {{loop_bounds{0, count, 1}}};
}
/// One more index, [begin, end).
constexpr inner_loops<1> inner(std::array<std::int64_t, 2> range) noexcept {
  return {{loop_bounds{range[0], range[1], 1}}};
}
/// Two more indices, [begin, end) each.
constexpr inner_loops<2> inner(std::array<std::int64_t, 2> second, std::array<std::int64_t, 2> third) noexcept {
  return {{loop_bounds{second[0], second[1], 1}, loop_bounds{third[0], third[1], 1}}};
}

/// The text of a body for devices, and where the program has it. Made from a text in a call of with_kernel.
struct kernel_body {
  /// Implicit, so that the site is the place of that call.
  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view>
  constexpr kernel_body(const Text& of,
                        std::source_location where = std::source_location::current())  // NOLINT: meant to convert
      : text(of), site(where) {}
  std::string_view text;      ///< must live until the region is submitted
  std::source_location site;  ///< for messages
  bool doubles = false;       ///< it has numbers of type double, whatever its arrays and values have
};

/// The body of a region in two forms: a function of the host, and the same as text for devices. Made by with_kernel.
/// @tparam Host    the function @tparam Inner  loops that the text alone has @tparam Values  numbers that it sees
template <class Host, std::size_t Inner, class... Values>
struct region_body {
  Host host;                     ///< runs on the host
  kernel_body kernel;            ///< the text
  inner_loops<Inner> loops;      ///< of the text
  std::tuple<Values...> values;  ///< behind the uses among the text's parameters
  double rounding = 0;           ///< by how much results of the two may differ while validating; see within
  /// The same for results that cancel to nearly nothing, of which no digit need be right: while validating the two
  /// forms may differ by this much, as a number, where that is more than what is allowed anyway.
  region_body within(double difference) && {
    rounding = difference;
    return std::move(*this);
  }
  /// Calls the function of the host.
  template <class... Arguments>
  requires std::is_invocable_v<Host&, Arguments...>
  void operator()(Arguments&&... arguments) { host(std::forward<Arguments>(arguments)...); }
};

/// A body that devices run too, for those that compile kernels (docs/kernels.md):
/// @code
/// model.region("triad", iterate(0, n), read(b), read(c), write(a),
///              with_kernel([s](auto i, auto b, auto c, auto a) { a[i] = b[i] + s * c[i]; },
///                          "(i, b, c, a, s) { a[i] = b[i] + s * c[i]; }", s));
/// @endcode
/// The text names the indices, one parameter per use and one per value, in this order; indices are `long`. Arrays are
/// used as x[position], x(row), x(row, second) or x(row, second, third), as on the host; the type of x's elements is
/// x_element. Both forms must do the same.
/// @param kernel  stays valid until the region is submitted; a literal
/// @param values  numbers of types float, double, int, std::int64_t or std::uint8_t
template <class Host, class... Values>
requires(std::is_arithmetic_v<Values>&&...) region_body<Host, 0, Values...> with_kernel(Host host, kernel_body kernel,
                                                                                        Values... values) {
  return {std::move(host), kernel, {}, {values...}};
}

/// The same where the function goes over a row, and the text does one element of it, so that a device has enough to do
/// side by side:
/// @code
/// model.region("scale", iterate(0, rows), read(x), write(y),
///              with_kernel([n](auto i, auto x, auto y) { scale_row(&x(i, 0), &y(i, 0), n); },
///                          inner(n), "(i, j, x, y) { y(i, j) = 2 * x(i, j); }"));
/// @endcode
/// The indices of `loops` follow those of the region; with them there are up to three. No two pairs (i, j) may write
/// the same element, and none may read what another one writes.
template <class Host, std::size_t Inner, class... Values>
requires(std::is_arithmetic_v<Values>&&...) region_body<Host, Inner, Values...> with_kernel(
    Host host, const inner_loops<Inner>& loops, kernel_body kernel, Values... values) {
  return {std::move(host), kernel, loops, {values...}};
}

}  // namespace tessera
