#pragma once
// Whether a plugin's file may be loaded into this process.
#include <filesystem>
#include <string>

namespace tessera::plugin {

/// Throws tessera::error (kind plugin) when somebody other than root and the current user could change the file: the
/// file or the directory that holds it (also behind a symbolic link) is world-writable, or belongs to somebody else. A
/// world-writable directory with the sticky bit passes, because others cannot replace files in it. Group-writable
/// passes.
void check_trust(const std::filesystem::path& path);

/// The SHA-256 of a file's bytes, 64 lower-case hexadecimal digits. Throws tessera::error (kind plugin) if unreadable.
std::string sha256_of(const std::filesystem::path& path);

/// Throws tessera::error (kind plugin) unless the file has this checksum (case does not matter).
void check_sha256(const std::filesystem::path& path, const std::string& plugin, std::string expected);

}  // namespace tessera::plugin
