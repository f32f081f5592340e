#include "core/config/quote.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/config/value.hpp"

namespace tessera::config {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
        else
          out += c;
    }
  }
  return out + '"';
}

std::string exact_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes == 0) return "0";
  std::size_t power = 0;
  for (; power + 1 < units.size() && bytes % 1024 == 0; ++power) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[power]);
}

std::string exact_duration(std::uint64_t nanoseconds) {
  static constexpr std::array<std::pair<const char*, std::uint64_t>, 3> units{
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}}};
  for (const auto& [name, factor] : units)
    if (nanoseconds != 0 && nanoseconds % factor == 0) return fmt::format("{} {}", nanoseconds / factor, name);
  return fmt::format("{} ns", nanoseconds);
}

std::string_view value::type_name() const noexcept {
  static constexpr std::array<std::string_view, 6> names{"true or false", "an integer", "a number with a point",
                                                         "text",          "a list",     "a table"};
  return names[content.index()];
}

}  // namespace tessera::config
