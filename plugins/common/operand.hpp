#pragma once
// How kernels learn where their operands are.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>

namespace tessera::common {

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
    case TSR_U8: return 1;
    case TSR_F16:
    case TSR_BF16: return 2;
    case TSR_F32:
    case TSR_I32: return 4;
    case TSR_F64:
    case TSR_C64:
    case TSR_I64: return 8;
    case TSR_C128: return 16;
    default: return 0;
  }
}

/// One element of any type, copied out of the caller's memory.
struct scalar {
  alignas(16) unsigned char bytes[16] = {};
};

}  // namespace tessera::common
