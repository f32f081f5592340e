#pragma once
/// @file
/// Chains of pointers: arrays and numbers at the end of nested structures, named in regions without copying the
/// structures (docs/deep_copy.md).
/// @code
/// auto positions = tessera::chain(sim, &simulation::atoms, &atom_data::positions)[3 * n];
/// model.region("drift", tessera::iterate(0, 3 * n), update(positions), read(tessera::scalar(sim.step)),
///              [](auto i, auto x, auto step) { x[i] += step[0]; });
/// @endcode
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "tessera/region.hpp"

namespace tessera {

namespace detail {

/// What a link leads to, and how many elements are there; -1: not known.
template <class T>
struct link_target {
  T* at;
  std::int64_t elements;
};
template <class T>
concept owning_pointer = requires(T& p) {
  typename std::remove_cvref_t<T>::element_type;
  { p.get() } -> std::convertible_to<typename std::remove_cvref_t<T>::element_type*>;
};
template <class T>
concept counted_elements = requires(T& c) {
  {c.data()};
  { c.size() } -> std::convertible_to<std::size_t>;
};
template <class Member>
auto follow(Member& member) noexcept {
  using type = std::remove_const_t<Member>;
  if constexpr (std::is_pointer_v<type>) {
    return link_target<std::remove_pointer_t<type>>{member, -1};
  } else if constexpr (std::is_array_v<type>) {
    return link_target<std::remove_extent_t<Member>>{member, static_cast<std::int64_t>(std::extent_v<type>)};
  } else if constexpr (owning_pointer<Member>) {
    return link_target<std::remove_pointer_t<decltype(member.get())>>{member.get(), -1};
  } else if constexpr (counted_elements<Member>) {
    return link_target<std::remove_pointer_t<decltype(member.data())>>{member.data(),
                                                                       static_cast<std::int64_t>(member.size())};
  } else {
    return link_target<Member>{&member, 1};
  }
}

[[noreturn]] void refuse_null_link(std::size_t link, const std::type_info* owner, const std::type_info& target);
[[noreturn]] void refuse_elements(const char* what, std::int64_t asked, std::int64_t there, std::size_t link,
                                  const std::type_info& element);
std::string chain_name(std::size_t links, const std::type_info& element);
/// How many elements these extents have.
constexpr std::size_t elements_in(std::span<const std::int64_t> extents) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return static_cast<std::size_t>(count);
}

}  // namespace detail

/// Elements at the end of a chain, as regions name them: `read(e)`, `write(e)`, `update(e)`, like an array of so many
/// rows, of one element each or of several. From the first region that names them to the next location_model::fence
/// they are the regions'; after it the memory holds what these made of it. Plain data.
/// @tparam T  element type
/// @tparam Rank  dimensions: one, or those of the rows
template <class T, std::size_t Rank = 1>
class chained_elements {
 public:
  /// Made by pointer_chain::operator[].
  chained_elements(T* data, const std::int64_t (&extents)[Rank], std::size_t links) noexcept
      : m_elements(data, detail::elements_in(extents)), m_links(links) {
    std::copy_n(extents, Rank, m_extents);
  }
  std::span<T> elements() const noexcept { return m_elements; }                                ///< the memory itself
  T* data() const noexcept { return m_elements.data(); }                                       ///< the first element
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(m_elements.size()); }  ///< elements
  const std::int64_t (&extents() const noexcept)[Rank] { return m_extents; }                   ///< rows first
  std::size_t links() const noexcept { return m_links; }                                       ///< of the chain
  std::string name() const { return detail::chain_name(m_links, typeid(T)); }                  ///< for messages

 private:
  std::span<T> m_elements;
  std::int64_t m_extents[Rank];
  std::size_t m_links;
};

/// What a chain of links has reached. Each link is looked at once, when it is added; what it reaches must not be null
/// where the chain goes on from it. Plain data.
/// @tparam T  what the last link leads to
template <class T>
class pointer_chain {
 public:
  /// Made by chain() and by the members below.
  pointer_chain(detail::link_target<T> reached, std::size_t links, const std::type_info* owner) noexcept
      : m_reached(reached), m_links(links), m_owner(owner) {}

  /// One link more: a member that is a pointer, a smart pointer, an object, an array, or a container with data() and
  /// size(). Throws tessera::error (usage) when the link before leads nowhere, and names it.
  template <class Member, class Owner>
  auto then(Member Owner::*link) const {
    static_assert(std::is_base_of_v<Owner, std::remove_cv_t<T>>,
                  "a link of a chain is a member of the type that the link before leads to: "
                  "chain(sim, &simulation::atoms, &atom_data::positions)");
    static_assert(!std::is_function_v<Member>, "a link of a chain is a data member, not a function");
    auto next = detail::follow(get().*link);
    return pointer_chain<std::remove_pointer_t<decltype(next.at)>>(next, m_links + 1, &typeid(T));
  }
  /// One of several objects that the last link leads to; where that is a pointer, a smart pointer or a container
  /// itself, what it leads to. Throws tessera::error (usage): a link that leads nowhere, an index below 0, or beyond
  /// what the link is known to hold.
  auto element(std::int64_t index) const {
    check("the element", index, index + 1);
    auto next = detail::follow((&get())[index]);
    return pointer_chain<std::remove_pointer_t<decltype(next.at)>>(next, m_links, m_owner);
  }
  /// The object. Throws tessera::error (usage) when the last link leads nowhere, and names it.
  T& get() const {
    if (m_reached.at == nullptr) detail::refuse_null_link(m_links, m_owner, typeid(T));
    return *m_reached.at;
  }
  /// `count` elements, for regions. Throws tessera::error (usage): a count below 0 or larger than what the link is
  /// known to hold, or a link that leads nowhere while count is not 0.
  chained_elements<T> operator[](std::int64_t count) const { return over({count}); }
  /// Rows of several elements, one after the other: `chain(...)[{rows, second, third}]`. Throws the same.
  template <std::size_t Rank>
  requires(Rank <= 3) chained_elements<T, Rank>
  operator[](const std::int64_t (&extents)[Rank]) const { return over(extents); }
  std::size_t links() const noexcept { return m_links; }  ///< so far; for messages

 private:
  template <std::size_t Rank>
  chained_elements<T, Rank> over(const std::int64_t (&extents)[Rank]) const {
    const auto count = static_cast<std::int64_t>(detail::elements_in(extents));
    check("the count", count, count);
    if (count != 0) (void)get();
    return {m_reached.at, extents, m_links};
  }
  void check(const char* what, std::int64_t count, std::int64_t needed) const {
    if (count < 0 || (m_reached.elements >= 0 && needed > m_reached.elements))
      detail::refuse_elements(what, count, m_reached.elements, m_links, typeid(T));
  }
  detail::link_target<T> m_reached;
  std::size_t m_links;
  const std::type_info* m_owner;  // of the last link; null: the root
};

namespace detail {
template <class T, class... Links>
auto chain_from(const pointer_chain<T>& reached, Links... links) {
  if constexpr (sizeof...(links) == 0)
    return reached;
  else
    return [&](auto first, auto... others) { return chain_from(reached.then(first), others...); }(links...);
}
}  // namespace detail

/// Begins at an object and follows its links: `chain(sim, &simulation::atoms, &atom_data::positions)`. Throws as
/// pointer_chain::then.
template <class Root, class... Links>
requires(!std::is_pointer_v<Root> && (std::is_member_object_pointer_v<Links> && ...)) auto chain(Root& root,
                                                                                                 Links... links) {
  return detail::chain_from(pointer_chain<Root>({&root, 1}, 0, nullptr), links...);
}
/// The same at the object that a pointer leads to.
template <class Root, class... Links>
requires(std::is_member_object_pointer_v<Links>&&...) auto chain(Root* root, Links... links) {
  return detail::chain_from(pointer_chain<Root>({root, -1}, 0, nullptr), links...);
}

/// A number of the program, as regions name it: an array of one row, s[0] in the body. Of `read` the value is taken
/// when the region is submitted; the program may change it then. One that regions write is theirs from the first region
/// that names it so to the next location_model::fence, and has the last value after it.
/// @tparam T  element type
template <class T>
class region_scalar {
 public:
  explicit region_scalar(T& of) noexcept : m_at(&of) {}  ///< made by scalar()
  T* data() const noexcept { return m_at; }              ///< the number itself

 private:
  T* m_at;
};

/// A variable.
template <class T>
requires std::is_arithmetic_v<T> region_scalar<T> scalar(T& variable)
noexcept { return region_scalar<T>(variable); }
/// The number at the end of a chain: `scalar(sim, &simulation::atoms, &atom_data::mass)`. Throws as chain.
template <class Root, class... Links>
requires(sizeof...(Links) > 0 && (std::is_member_object_pointer_v<Links> && ...)) auto scalar(Root& root,
                                                                                              Links... links) {
  return region_scalar(chain(root, links...).get());
}

// ---- in regions -----------------------------------------------------------------------------------------------------

namespace detail {

/// A use of elements at the end of a chain; it becomes that of an array when a region is submitted.
template <class T, std::size_t Rank>
struct chain_use {
  chained_elements<std::remove_const_t<T>, Rank> elements;
  tessera::intent intent;
  access_pattern pattern;
  region_use<T, Rank> resolve(location_model& model, std::source_location site) const {
    return {model.array_over(elements.name(), elements.elements(), elements.extents(), site).handle().rows(site),
            intent, pattern};
  }
};
/// The same of a number.
template <class T>
struct scalar_use {
  std::remove_const_t<T>* at;
  tessera::intent intent;
  region_use<T> resolve(location_model& model, std::source_location site) const {
    const std::span<std::remove_const_t<T>> scalar(at, 1);
    const auto array =
        intent == intent::read ? model.value_of("scalar", scalar, site) : model.array_over("scalar", scalar, site);
    return {array.handle().rows(site), intent, whole};
  }
};

}  // namespace detail

/// The body reads the elements.
template <class T, std::size_t Rank>
detail::chain_use<const T, Rank> read(const chained_elements<T, Rank>& e, access_pattern pattern = chunk) {
  return {{const_cast<std::remove_const_t<T>*>(e.data()), e.extents(), e.links()}, intent::read, pattern};
}
/// The body writes every element of the rows that the loop goes over, and reads none.
template <class T, std::size_t Rank>
detail::chain_use<T, Rank> write(const chained_elements<T, Rank>& e, access_pattern pattern = chunk) {
  static_assert(!std::is_const_v<T>, "the last link of the chain leads to constants, which no region writes");
  return {e, intent::write, pattern};
}
/// The body reads and writes the elements.
template <class T, std::size_t Rank>
detail::chain_use<T, Rank> update(const chained_elements<T, Rank>& e, access_pattern pattern = chunk) {
  static_assert(!std::is_const_v<T>, "the last link of the chain leads to constants, which no region writes");
  return {e, intent::update, pattern};
}
/// The body reads the value that the number has now.
template <class T>
detail::scalar_use<const std::remove_const_t<T>> read(const region_scalar<T>& s) {
  return {const_cast<std::remove_const_t<T>*>(s.data()), intent::read};
}
/// The body writes the number; of a loop that is not split.
template <class T>
detail::scalar_use<T> write(const region_scalar<T>& s) {
  return {s.data(), intent::write};
}
/// The body reads and writes the number; of a loop that is not split.
template <class T>
detail::scalar_use<T> update(const region_scalar<T>& s) {
  return {s.data(), intent::update};
}

}  // namespace tessera
