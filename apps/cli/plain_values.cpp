#include "apps/cli/plain_values.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace tessera::cli {
namespace {

/// What options call a number in their help.
constexpr std::array<std::string_view, 16> numbers{"N",  "N,N,...", "K", "B", "B,...", "ROWS", "SECONDS", "NX[,NY,NZ]",
                                                   "FS", "D",       "X", "Y", "TOL",   "INT",  "UINT",    "FLOAT"};

/// The library reads 010 as octal and 0x10 as hexadecimal, and what is too large as the largest.
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

void require_plain_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->get_type_size_max() > 0; })) {
    const std::string type = option->get_type_name();  // with what its checks say, behind a ':'
    const bool is_number = std::ranges::find(numbers, type.substr(0, type.find(':'))) != numbers.end();
    option->check(CLI::Validator(
        [is_number](const std::string& word) {
          return word.empty() ? "wants a value" : is_number ? why_no_number(word) : std::string();
        },
        ""));
  }
  for (CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; })) require_plain_values(*inner);
}

void require_whole_lists(const CLI::App& app, int argc, const char* const* argv) {
  for (const CLI::Option* option : app.get_options()) {
    const char comma = option->get_delimiter();
    if (comma == '\0' || option->count() == 0) continue;
    const std::string name = option->get_name();
    for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k) {
      const std::string word = argv[k];
      const bool is_next = word == name && k + 1 < argc;
      if (!is_next && !word.starts_with(name + "=")) continue;
      const std::string value = is_next ? argv[k + 1] : word.substr(name.size() + 1);
      if (value.starts_with(comma) || value.ends_with(comma) || value.find({comma, comma}) != value.npos)
        throw error(error_kind::usage, fmt::format("'{}' is no list: there is nothing beside a '{}'", value, comma),
                    name, "write its items with one comma between two of them");
    }
  }
  for (const CLI::App* inner : app.get_subcommands()) require_whole_lists(*inner, argc, argv);
}

}  // namespace tessera::cli
