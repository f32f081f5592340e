#pragma once
// Small text forms shared by the files of this room and by hierarchy: exact, readable back by the parsers of core/base.
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::config {

/// As a TOML basic string, with escapes.
std::string in_quotes(std::string_view text);

/// 67108864 -> "64 MiB", 1000 -> "1000 B", 0 -> "0": the largest binary unit that divides it.
std::string exact_bytes(std::uint64_t bytes);

/// 50000 -> "50 us", 0 -> "0 ns".
std::string exact_duration(std::uint64_t nanoseconds);

}  // namespace tessera::config
