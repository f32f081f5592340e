#pragma once
// Whether a function of a vendor's header can be called as libraries/ believes.
#include <type_traits>

namespace tessera::gpu {

/// Whether arguments of one type can be passed as the other: data by address, numbers and choices of one size.
template <class Ours, class Theirs>
constexpr bool abi_compatible =
    std::is_pointer_v<Ours> ? std::is_pointer_v<Theirs> : !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs);

template <class Ours, class Theirs>
struct calls;
template <class... Ours, class Status, class... Theirs>
struct calls<int (*)(Ours...), Status (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return sizeof(Status) == sizeof(int) && (abi_compatible<Ours, Theirs> && ...);
    else
      return false;
  }();
};
template <class Ours, class Theirs>
constexpr bool calls_v = calls<Ours, Theirs>::value;

}  // namespace tessera::gpu
