#pragma once
// One element of a type that is known at run time only, in host code.
#include <cstring>

#include "plugins/kit/abi/operand.hpp"

namespace tessera::gpu {

/// Calls function(zero) with the real type that numbers of `type` are made of.
template <class Function>
auto with_part(tsr_type type, Function&& function) {
  switch (type) {
    case TSR_F64:
    case TSR_C128:
      return function(double{});
    case TSR_I32:
      return function(std::int32_t{});
    case TSR_I64:
      return function(std::int64_t{});
    default:
      return function(float{});
  }
}

/// Compared as numbers: -0.0 is zero as well.
inline bool is_zero(tsr_type type, const void* number) {
  return with_part(type, [&](auto part) {
    for (std::size_t at = 0; at < kit::element_bytes(type); at += sizeof part) {
      std::memcpy(&part, static_cast<const char*>(number) + at, sizeof part);
      if (part != 0) return false;
    }
    return true;
  });
}

/// A number without an imaginary part.
inline kit::scalar real_number(tsr_type type, int value) {
  kit::scalar made;
  with_part(type, [&](auto part) {
    part = static_cast<decltype(part)>(value);
    std::memcpy(made.bytes, &part, sizeof part);
  });
  return made;
}

}  // namespace tessera::gpu
