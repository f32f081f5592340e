#pragma once
// Results of regions: numbers that their iterations make together.
#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>

#include "tessera/detail/array.hpp"
#include "tessera/detail/combine.hpp"

namespace tessera {

namespace hierarchy {
class reduction_storage;
}

namespace detail {

class region_result_handle {
 public:
  region_result_handle(runtime& of, std::string name, element_type type);
  held_block hold(std::source_location site) const;  ///< of its value. Throws as region_result::get
  const std::shared_ptr<hierarchy::reduction_storage>& storage() const noexcept { return m_storage; }

 private:
  std::shared_ptr<hierarchy::reduction_storage> m_storage;
};

}  // namespace detail

/// The result of a region's reduction: a number that each region which names it computes again. A handle; copies are
/// the same number.
/// @tparam T  an arithmetic element type
template <class T>
class region_result {
 public:
  /// Of no region yet. @param name  for messages
  region_result(runtime& of, std::string name) : m_handle(of, std::move(name), element_type_of<T>()) {}
  /// Waits for the last region that was submitted with it. Throws that region's failure; usage inside a task, and task
  /// when there was none.
  T get(std::source_location site = std::source_location::current()) const {
    return *static_cast<const T*>(m_handle.hold(site).data());
  }
  const detail::region_result_handle& handle() const noexcept { return m_handle; }  ///< for the runtime

 private:
  detail::region_result_handle m_handle;
};

/// A result and how the parts of it are joined. The body gets a reference to a T that begins as the identity.
/// @tparam Join  has identity<T>() and operator()(T&, T)
template <class T, class Join>
struct region_reduction {
  using argument = T&;                                   ///< what the body gets for it
  std::shared_ptr<hierarchy::reduction_storage> result;  ///< the result
};

namespace detail {
struct join_sum {
  static constexpr reduction_kind kind = reduction_kind::sum;
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to + part);
  }
};
struct join_product {
  static constexpr reduction_kind kind = reduction_kind::product;
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to * part);
  }
};
struct join_and {
  static constexpr reduction_kind kind = reduction_kind::all;
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to != T{} && part != T{});
  }
};
struct join_or {
  static constexpr reduction_kind kind = reduction_kind::any;
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static constexpr void join(T& to, T part) {
    to = static_cast<T>(to != T{} || part != T{});
  }
};
}  // namespace detail

/// The body adds to a number; the parts are added in the order of the iterations, so that the same split of the same
/// loop gives the same bits.
template <class T>
region_reduction<T, detail::join_sum> sum(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body multiplies a number.
template <class T>
region_reduction<T, detail::join_product> product(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body clears a flag that begins as 1.
template <class T>
requires std::integral<T> region_reduction<T, detail::join_and> all_of(const region_result<T>& r) {
  return {r.handle().storage()};
}
/// The body sets a flag that begins as 0.
template <class T>
requires std::integral<T> region_reduction<T, detail::join_or> any_of(const region_result<T>& r) {
  return {r.handle().storage()};
}

}  // namespace tessera
