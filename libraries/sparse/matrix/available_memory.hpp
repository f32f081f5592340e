#pragma once
// Memory that the machine has left.
#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::sparse {

/// Bytes that this process can have without swapping: what the system estimates, what a limit of its address space
/// (ulimit -v) leaves, and what the limits of its control groups leave, as a container has them. 2^62 where none says.
std::int64_t available_memory();

/// What the limit of one control group leaves, by the files in its folder (version 2 or 1): memory that is only a cache
/// of files counts as free. 2^62 where it has no limit.
std::int64_t left_in_group(const std::filesystem::path& folder);

/// Throws tessera::error of kind memory for a matrix that takes more than `memory` bytes while it is `how`: read from a
/// file, or made; `where` says from which, or of what.
void require_memory(const std::string& where, std::int64_t rows, std::int64_t entries, double bytes,
                    std::int64_t memory, const char* how = "read");

}  // namespace tessera::sparse
