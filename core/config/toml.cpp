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
    out.is = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    out.is = std::int64_t{integer->get()};
  } else if (const auto* number = node.as_floating_point()) {
    out.is = number->get();
  } else if (const auto* text = node.as_string()) {
    out.is = text->get();
  } else if (const auto* list = node.as_array()) {
    array elements;
    for (const toml::node& element : *list) elements.push_back(converted(element, place(source, element.source()), source));
    out.is = std::move(elements);
  } else if (const auto* members = node.as_table()) {
    table converted_members;
    for (const auto& [key, member] : *members)
      converted_members.push_back({std::string(key.str()), converted(member, place(source, key.source()), source)});
    out.is = std::move(converted_members);
  } else {
    throw error(error_kind::configuration, "dates and times are not used in Tessera's configuration", out.where,
                "put the value in quotes");
  }
  return out;
}

}  // namespace

table parse_toml(std::string_view text, const std::string& source) {
  try {
    value top = converted(toml::parse(text, source), source, source);
    return std::get<table>(std::move(top.is));
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
