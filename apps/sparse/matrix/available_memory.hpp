#pragma once
// Memory that the machine has left.
#include <cstdint>

namespace tessera::sparse {

/// Bytes that programs can have without swapping, as the system estimates them; 2^62 where it does not say.
std::int64_t available_memory();

}  // namespace tessera::sparse
