#pragma once
// How kernels learn where their operands are.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tessera::kit {

/// Turns an address given to a kernel into a host pointer, with every check that the plugin makes: handle, bounds, kind
/// of memory. Used while the kernel is enqueued, on the caller's thread.
class operand_resolver {
 public:
  /// `name` is the operand's name in error messages ("A"). 0 bytes: any address is right, *out may be null.
  /// Fails: INVALID_ARGUMENT, OUT_OF_RANGE, each with a record.
  virtual tsr_status resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) = 0;

 protected:
  ~operand_resolver() = default;
};

/// Bytes of one element; 0 for a type that does not exist.
constexpr std::size_t element_bytes(tsr_type type) noexcept {
  switch (type) {
    case TSR_U8:
      return 1;
    case TSR_F16:
    case TSR_BF16:
      return 2;
    case TSR_F32:
    case TSR_I32:
      return 4;
    case TSR_F64:
    case TSR_C64:
    case TSR_I64:
      return 8;
    case TSR_C128:
      return 16;
    default:
      return 0;
  }
}

constexpr bool is_complex(tsr_type type) noexcept { return type == TSR_C64 || type == TSR_C128; }

/// Whether two ranges of memory have a byte in common.
inline bool overlap(const void* a, std::uint64_t bytes_a, const void* b, std::uint64_t bytes_b) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return bytes_a > 0 && bytes_b > 0 && (first < second ? second - first < bytes_a : first - second < bytes_b);
}

/// One element of any type, copied out of the caller's memory.
struct scalar {
  alignas(16) unsigned char bytes[16] = {};
};

/// Compared as numbers: -0.0 is zero as well. For the types of numbers alone.
inline bool is_zero(const scalar& value, tsr_type type) noexcept {
  const auto all_zero = [&](auto part) {
    for (std::size_t at = 0; at < element_bytes(type); at += sizeof part) {
      std::memcpy(&part, value.bytes + at, sizeof part);
      if (part != 0) return false;
    }
    return true;
  };
  switch (type) {
    case TSR_F32:
    case TSR_C64:
      return all_zero(0.0f);
    case TSR_F64:
    case TSR_C128:
      return all_zero(0.0);
    case TSR_I32:
      return all_zero(std::int32_t{0});
    default:
      return all_zero(std::int64_t{0});
  }
}

}  // namespace tessera::kit
