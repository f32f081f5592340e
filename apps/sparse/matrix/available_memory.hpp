#pragma once
// Memory that the machine has left.
#include <cstdint>
#include <string>

namespace tessera::sparse {

/// Bytes that programs can have without swapping, as the system estimates them; 2^62 where it does not say.
std::int64_t available_memory();

/// Throws tessera::error of kind memory for a matrix that takes more than `memory` bytes while it is `how`: read from a
/// file, or made; `where` says from which, or of what.
void require_memory(const std::string& where, std::int64_t rows, std::int64_t entries, double bytes,
                    std::int64_t memory, const char* how = "read");

}  // namespace tessera::sparse
