#pragma once
// Numbers of the binary form.
#include <cstdint>

namespace tessera::sial {

inline constexpr std::int32_t binary_magic = 23121991, binary_version = 1;
/// index_kind as it stands in a file, less the kind's own number.
inline constexpr std::int32_t first_kind_code = 1001, last_kind_code = 1007;

}  // namespace tessera::sial
