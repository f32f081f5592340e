#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/config/quote.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

/// Well-formed UTF-8, as TOML is: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t k = 0; k < text.size();) {
    const auto byte = [&](std::size_t j) -> unsigned {
      return j < text.size() ? static_cast<unsigned char>(text[j]) : 0;
    };
    const unsigned first = byte(k);
    const std::size_t more = first < 0x80                    ? 0
                             : first >= 0xC2 && first < 0xE0 ? 1
                             : first >= 0xE0 && first < 0xF0 ? 2
                             : first >= 0xF0 && first < 0xF5 ? 3
                                                             : 9;
    if (more == 9) return false;
    for (std::size_t j = 1; j <= more; ++j)
      if ((byte(k + j) & 0xC0) != 0x80) return false;
    const unsigned second = byte(k + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second >= 0x90))
      return false;
    k += more + 1;
  }
  return true;
}

std::string in_quotes(const std::string& text) {
  if (!is_utf8(text))
    throw error(error_kind::input, fmt::format("'{}' is not UTF-8, as TOML must be", text), {},
                "write the binary form, or rename it");
  return config::in_quotes(text);
}

std::string shown(std::int64_t value) { return fmt::format("{}", value); }

/// The shortest text that reads back the same, as TOML writes it.
std::string shown(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}
std::string shown(const std::string& value) { return in_quotes(value); }

/// Bare where TOML allows it.
std::string key(const std::string& name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? name : in_quotes(name);
}

/// Broken into lines of at most 100 characters each.
template <typename element>
std::string list(const std::vector<element>& values) {
  constexpr std::size_t width = 100;
  std::string text = "[";
  std::size_t line = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::string one = shown(values[k]) + (k + 1 < values.size() ? "," : "");
    if (line + one.size() > width) {
      text += "\n  ";
      line = 0;
    } else if (k != 0) {
      text += ' ';
    }
    text += one;
    line += one.size() + 1;
  }
  return text + "]";
}

template <typename members>
std::string named(const char* section, const members& all) {
  if (all.empty()) return {};
  std::string text = fmt::format("\n[{}]\n", section);
  for (const auto& [name, value] : all) text += fmt::format("{} = {}\n", key(name), shown(value));
  return text;
}

template <typename members>
std::string arrays(const char* section, const members& all) {
  std::string text;
  for (const auto& [name, array] : all) {
    text += fmt::format("\n[{}.{}]\n", section, key(name));
    text += fmt::format("dims = {}\ndata = {}\n", list(array.dims), list(array.values));
  }
  return text;
}

}  // namespace

std::string to_toml(const init_data& data) {
  std::string text = fmt::format("programs = {}\n", list(data.programs));
  text += named("ints", data.ints);
  text += named("scalars", data.scalars);
  if (!data.segments.empty()) text += "\n[segments]\n";
  for (const auto& [kind, lengths] : data.segments)
    text += fmt::format("{} = {}\n", segment_table_name(kind), list(lengths));
  text += arrays("float_arrays", data.float_arrays);
  text += arrays("int_arrays", data.int_arrays);
  for (const auto& [program, options] : data.options) {
    text += fmt::format("\n[options.{}]\n", key(program));
    for (const auto& [name, value] : options) text += fmt::format("{} = {}\n", key(name), shown(value));
  }
  return text;
}

}  // namespace tessera::sial
