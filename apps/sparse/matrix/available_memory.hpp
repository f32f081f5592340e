#pragma once
// Memory that the machine has left.
#include <cstdint>
#include <string>

namespace tessera::sparse {

/// Bytes that programs can have without swapping, as the system estimates them; 2^62 where it does not say.
std::int64_t available_memory();

/// Throws tessera::error of kind memory for a matrix that takes more than `memory` bytes while it is read from `file`.
void require_memory(const std::string& file, std::int64_t rows, std::int64_t entries, double bytes,
                    std::int64_t memory);

}  // namespace tessera::sparse
