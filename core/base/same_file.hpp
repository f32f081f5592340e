#pragma once
// Two names of one file.
#include <filesystem>

namespace tessera {

/// Whether writing to one would change the other: a regular file that is there, under any of its names, or one that
/// would be made under both, also through symbolic links that lead nowhere yet. A device or a pipe is no such file: it
/// may have several uses.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace tessera
