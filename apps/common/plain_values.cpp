#include "apps/common/plain_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/base/error.hpp"

namespace tessera::apps {
namespace {

/// The library that parses reads 010 as octal and 0x10 as hexadecimal, and what is too large as the largest.
std::string why_no_number(std::string_view word) {
  std::string_view digits = word;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.size() > 1 && digits[0] == '0' && std::string_view("0123456789xX").find(digits[1]) != digits.npos)
    return fmt::format("'{}' is not written as a decimal number", word);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return {};
  std::int64_t value = 0;
  return std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc::result_out_of_range
             ? fmt::format("'{}' is too large", word)
             : std::string();
}

}  // namespace

std::string why_not_plain(const option& of, const std::string& word) {
  constexpr std::string_view lattice = "NX[,NY,NZ]";  // a word that is read later
  if (word.empty()) return "wants a value";
  return of.is_number() || of.value == lattice ? why_no_number(word) : std::string();
}

void require_whole_lists(const command_table& program, int argc, const char* const* argv) {
  for (const option& one : program.options) {
    constexpr char comma = ',';
    if (!one.rules.by_commas || one.given.empty()) continue;
    for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k) {
      const std::string word = argv[k];
      const bool is_next = word == one.name && k + 1 < argc;
      if (!is_next && !word.starts_with(one.name + "=")) continue;
      const std::string value = is_next ? argv[k + 1] : word.substr(one.name.size() + 1);
      if (value.starts_with(comma) || value.ends_with(comma) || value.find({comma, comma}) != value.npos)
        throw error(error_kind::usage, fmt::format("'{}' is no list: there is nothing beside a '{}'", value, comma),
                    one.name, "write its items with one comma between two of them");
    }
  }
  for (const command_table& below : program.commands) require_whole_lists(below, argc, argv);
}

}  // namespace tessera::apps
