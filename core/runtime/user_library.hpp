#pragma once
// Shared libraries of a program's own that are no plugins.
#include <filesystem>
#include <string>

namespace tessera {

/// Loads a shared library under the rules of plugins and returns its symbol `name`, or null when it has none. Refused
/// before any of its code runs: a file that others may write to, one whose SHA-256 is not `sha256` (unless that is
/// empty), one for another machine or sanitizer. Loaded once per process, with local symbols, and never unloaded.
/// Throws tessera::error (kind plugin) with the file as the place. Thread-safe.
void* load_user_library(const std::filesystem::path& path, const std::string& name, const std::string& sha256 = {});

}  // namespace tessera
