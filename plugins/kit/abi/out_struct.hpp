#pragma once
// Structs that a plugin fills for a host which may know fewer or more of their fields.
#include <tessera/plugin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tessera::kit {

/// sizeof a struct in version 1.0 of the ABI. What came later begins there.
template <class Struct>
inline constexpr std::uint32_t first_size = sizeof(Struct);
template <>
inline constexpr std::uint32_t first_size<tsr_device_desc> = offsetof(tsr_device_desc, max_allocation);

/// Writes `value` into *out, no more than the room that the caller announced in out->struct_size (0: a caller who set
/// nothing has version 1.0's), and sets out->struct_size to what was written (rule R1).
template <class Struct>
void fill_out(Struct* out, Struct value) noexcept {
  const std::uint32_t room = out->struct_size == 0 ? first_size<Struct> : out->struct_size;
  value.struct_size = std::min<std::uint32_t>(room, sizeof(Struct));
  std::memcpy(static_cast<void*>(out), &value, std::max<std::size_t>(value.struct_size, sizeof value.struct_size));
}

}  // namespace tessera::kit
