// The only file that includes toml++ (its templates cost seconds of compilation).
#include "core/config/toml.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

// Not exported from libtessera: a program may have its own toml++, of another version or with other options.
#pragma GCC visibility push(hidden)
#include <toml++/toml.h>
#pragma GCC visibility pop

#include "core/base/error.hpp"

namespace tessera::config {
namespace {

std::string place(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", source, region.begin.line, region.begin.column);
}

value converted(const toml::node& node, std::string where, const std::string& source) {
  value out{false, std::move(where)};
  if (const auto* boolean = node.as_boolean()) {
    out.content = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    out.content = std::int64_t{integer->get()};
  } else if (const auto* number = node.as_floating_point()) {
    out.content = number->get();
  } else if (const auto* text = node.as_string()) {
    out.content = text->get();
  } else if (const auto* list = node.as_array()) {
    array elements;
    for (const toml::node& element : *list)
      elements.push_back(converted(element, place(source, element.source()), source));
    out.content = std::move(elements);
  } else if (const auto* members = node.as_table()) {
    table converted_members;
    for (const auto& [key, member] : *members)
      converted_members.push_back({std::string(key.str()), converted(member, place(source, key.source()), source)});
    out.content = std::move(converted_members);
  } else {
    throw error(error_kind::configuration, "dates and times are not used in Tessera's configuration", out.where,
                "put the value in quotes");
  }
  return out;
}

/// Outside of quotes and comments TOML is ASCII. toml++ 3.3 asks of such letters whether they are blanks, and for some
/// of them its answer is undefined behaviour, so that they must not get there.
void expect_ascii_outside_of_quotes(std::string_view text, const std::string& source) {
  std::size_t line = 1, column = 1, at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  std::string_view quotes;  // that end what we are in; "#" in a comment
  while (at < text.size()) {
    const char c = text[at];
    std::size_t length = 1;
    if (c == '\n') {
      ++line;
      column = 0;
      if (quotes.size() == 1) quotes = {};
    } else if (quotes.empty()) {
      if (static_cast<unsigned char>(c) >= 0x80)
        throw error(error_kind::configuration,
                    "this is not TOML: a character that is not ASCII stands outside of quotes",
                    fmt::format("{}:{}:{}", source, line, column), "put the word in quotes");
      const std::string_view three = text.substr(at, 3);
      if (three == R"(""")" || three == "'''")
        length = (quotes = three).size();
      else if (c == '"' || c == '\'' || c == '#')
        quotes = text.substr(at, 1);
    } else if (c == '\\' && quotes.front() == '"' && at + 1 < text.size() && text[at + 1] != '\n') {
      length = 2;
    } else if (quotes != "#" && text.substr(at).starts_with(quotes)) {
      length = quotes.size();
      quotes = {};
    }
    for (std::size_t k = at; k < at + length; ++k)
      column += (static_cast<unsigned char>(text[k]) & 0xC0) != 0x80 ? 1 : 0;
    at += length;
  }
}

}  // namespace

table parse_toml(std::string_view text, const std::string& source) {
  expect_ascii_outside_of_quotes(text, source);
  try {
    value top = converted(toml::parse(text, source), source, source);
    return std::get<table>(std::move(top.content));
  } catch (const toml::parse_error& problem) {
    throw error(error_kind::configuration, fmt::format("this is not TOML: {}", problem.description()),
                place(source, problem.source()));
  }
}

std::string read_text_file(const std::filesystem::path& file) {
  std::error_code ignored;
  errno = 0;
  std::ifstream stream;
  if (!std::filesystem::is_directory(file, ignored)) stream.open(file, std::ios::binary);
  std::ostringstream text;
  if (stream.is_open()) text << stream.rdbuf();
  if (!stream.is_open() || stream.bad())
    throw error(error_kind::configuration,
                fmt::format("cannot read the file '{}': {}", file.string(),
                            std::filesystem::is_directory(file, ignored) ? "it is a directory" : std::strerror(errno)),
                {}, "check the path and its permissions");
  return text.str();
}

}  // namespace tessera::config
