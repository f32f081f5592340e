#pragma once
// Associative operations that values are combined with: by accumulate, and by the reductions of regions.
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <typeinfo>

#include "core/block/combination.hpp"
#include "core/block/element_type.hpp"

namespace tessera {

template <class T>
class region_result;
template <class T, class Join>
struct region_reduction;

namespace detail {

/// How the parts of a result are joined.
enum class reduction_kind : std::uint8_t {
  none,
  sum,
  product,
  minimum,
  maximum,
  all,
  any
};

/// The smaller of two values.
struct minimum_operation {
  static constexpr reduction_kind kind = reduction_kind::minimum;
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr T operator()(T a, T b) const { return b < a ? b : a; }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = part < to ? part : to;
  }
  /// In a region: the body keeps the smallest: `m = std::min(m, x[i])`.
  template <class T>
  region_reduction<T, minimum_operation> operator()(const region_result<T>& r) const {
    return {r.handle().storage()};
  }
};

/// The larger of two values.
struct maximum_operation {
  static constexpr reduction_kind kind = reduction_kind::maximum;
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr T operator()(T a, T b) const { return a < b ? b : a; }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = to < part ? part : to;
  }
  /// In a region: the body keeps the largest.
  template <class T>
  region_reduction<T, maximum_operation> operator()(const region_result<T>& r) const {
    return {r.handle().storage()};
  }
};

}  // namespace detail

/// The smaller of two: `accumulate(b, tessera::minimum)`, and in a region `minimum(result)`.
inline constexpr detail::minimum_operation minimum{};
/// The larger of two: `accumulate(b, tessera::maximum)`, and in a region `maximum(result)`.
inline constexpr detail::maximum_operation maximum{};

/// What accumulate can combine elements with: an object without data that is called with two of them, in any order and
/// grouping, and whose static identity() changes no element.
/// @code struct farther {
///   static double identity() { return 0; }
///   double operator()(double a, double b) const { return std::abs(a) < std::abs(b) ? b : a; }
/// };
/// @endcode
template <class Operation, class T>
concept combines = std::is_empty_v<Operation> && std::default_initializable<Operation> &&
    std::is_trivially_copyable_v<T> && requires(const Operation& operation, T a, T b) {
  { operation(a, b) } -> std::convertible_to<T>;
} &&(
    requires {
      { Operation::identity() } -> std::convertible_to<T>;
    } ||
    requires {
      { Operation::template identity<T>() } -> std::convertible_to<T>;
    });

namespace detail {

template <class Operation, class T>
constexpr void require_combines() {
  static_assert(std::is_empty_v<Operation>,
                "an operation to accumulate with has no data: copies are combined long after the submission; keep "
                "values in a block");
  static_assert(
      is_number<T>,
      "elements of a type of the program are not accumulated: let tasks commute on them, or keep their numbers "
      "in arrays of their own");
  static_assert(
      !is_number<T> || combines<Operation, T>,
      "an operation to accumulate with is called with two elements and returns one, and its static identity() "
      "returns the element that changes nothing: see tessera::combines");
}

template <class Operation, class T>
void combine_elements(void* to, const void* from, std::int64_t elements) {
  auto* const all = static_cast<T*>(to);
  const auto* const more = static_cast<const T*>(from);
  for (std::int64_t k = 0; k < elements; ++k) all[k] = static_cast<T>(Operation{}(all[k], more[k]));
}

template <class Operation, class T>
block::combination make_combination() {
  T identity{};
  if constexpr (requires { Operation::template identity<T>(); })
    identity = Operation::template identity<T>();
  else
    identity = static_cast<T>(Operation::identity());
  block::combination combining{.combine = &combine_elements<Operation, T>, .type = &typeid(Operation)};
  static_assert(sizeof identity <= sizeof combining.identity);
  std::memcpy(combining.identity.data(), &identity, sizeof identity);
  return combining;
}

/// The number that the runtime knows it by.
template <class Operation, class T>
block::combination_number combination_number_of() {
  static const block::combination what = make_combination<Operation, T>();
  static const block::combination_number number = block::add_combination(what);
  return number;
}

}  // namespace detail
}  // namespace tessera
