#pragma once
// TOML text to values.
#include <filesystem>
#include <string>
#include <string_view>

#include "core/config/value.hpp"

namespace tessera::config {

/// Reads TOML. `source` names the text in places and messages. Throws tessera::error (kind configuration) with line and
/// column for a syntax error, a duplicate key, a date or time (which no key of Tessera has), or values that lie inside
/// each other more than 256 deep.
table parse_toml(std::string_view text, const std::string& source);

/// Reads a whole file. Throws tessera::error (kind configuration) when it cannot be read, to its end.
std::string read_text_file(const std::filesystem::path& file);

}  // namespace tessera::config
