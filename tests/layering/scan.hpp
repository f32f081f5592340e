#pragma once
// Reads the include lines of source files.
#include <filesystem>
#include <string_view>
#include <vector>

#include "tests/layering/rules.hpp"

namespace tessera::layering {

/// The include lines of one file's text, in order. `file` is copied into each.
std::vector<include_line> includes_of(std::string_view text, const std::string& file);

/// The include lines of every C and C++ file below `root`'s include, core, hierarchy, plugins, libraries, languages,
/// apps and examples, sorted by file. Throws std::runtime_error when a file cannot be read.
std::vector<include_line> scan(const std::filesystem::path& root);

}  // namespace tessera::layering
