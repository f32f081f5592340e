#pragma once
// Numbers with units as people write them in configuration files and read them in tables.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// "64 MiB", "16GB", "4096": bytes. Powers of 1024 with an i, of 1000 without. nullopt: not a size, or too large.
std::optional<std::int64_t> parse_bytes(std::string_view text);

/// What a rate counts.
enum class rate_of : std::uint8_t {
  any,
  bytes,
  operations
};
/// "12 GiB/s", "2.5 TFLOP/s", "1e9": bytes or operations per second (the suffix "/s" may be left out). nullopt: no
/// rate, or one of something else.
std::optional<double> parse_rate(std::string_view text, rate_of what = rate_of::any);

/// "5 us", "1.5 ms", "20 ns", "1 s": nanoseconds.
std::optional<std::int64_t> parse_duration(std::string_view text);

/// 67108864 -> "64 MiB"; three significant digits.
std::string format_bytes(double bytes);

/// 0.0123 (seconds) -> "12.3 ms".
std::string format_seconds(double seconds);

}  // namespace tessera
