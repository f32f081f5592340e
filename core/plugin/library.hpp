#pragma once
// Shared libraries that are loaded once and stay.
#include <filesystem>
#include <string>

#include "core/plugin/trust.hpp"

namespace tessera::plugin {

/// Loads a shared library with RTLD_NOW | RTLD_LOCAL and returns its symbol `name`, or null when it has none. The
/// library is kept for the rest of the process (closing a library under live vendor state crashes), and a file that is
/// already loaded is not loaded again. Throws tessera::error (kind plugin) with the linker's own text, and when the
/// linker has found another file than the one that was checked (docs/decisions/0035). Thread-safe.
void* load_symbol(const trusted_file& file, const std::string& name);

/// The same of a file that is checked now.
void* load_symbol(const std::filesystem::path& path, const std::string& name);

}  // namespace tessera::plugin
