// The only file that includes toml++ (its templates cost seconds of compilation).
#include "core/config/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

// Not exported from libtessera: a program may have its own toml++, of another version or with other options.
#pragma GCC visibility push(hidden)
#include <toml++/toml.h>
#pragma GCC visibility pop

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

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

/// What toml++ is spared, found in one pass over the text.
/// - Letters that are not ASCII, outside of quotes and comments: toml++ 3.3 asks of them whether they are blanks, and
///   for some its answer is undefined behaviour.
/// - Values inside values without end: it reads, and frees, each level on the stack below the one around it.
class look_ahead {
 public:
  look_ahead(std::string_view text, const std::string& source) : m_text(text), m_source(source) {}

  void run() {
    for (std::size_t at = m_text.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < m_text.size();) {
      const std::size_t length = step(at);
      for (std::size_t k = at; k < at + length; ++k)
        m_column += (static_cast<unsigned char>(m_text[k]) & 0xC0) != 0x80 ? 1 : 0;
      at += length;
    }
  }

 private:
  static constexpr std::size_t max_levels = 256;  // as toml++ has it for arrays and inline tables

  std::string_view m_text;
  const std::string& m_source;
  std::size_t m_line = 1, m_column = 1;
  std::string_view m_quotes;  // that end what we are in; "#" in a comment
  // The levels above a value: those of the table's header, of each bracket that is open with the key in front of it,
  // and of the key being read.
  bool m_begins = true, m_in_header = false;
  std::size_t m_header = 0, m_above = 0, m_key = 1;
  std::vector<std::size_t> m_open;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw error(error_kind::configuration, what, fmt::format("{}:{}:{}", m_source, m_line, m_column), hint);
  }

  /// Takes what stands at a place. Returns its length.
  std::size_t step(std::size_t at) {
    const char c = m_text[at];
    if (c == '\n') {
      ++m_line;
      m_column = 0;
      if (m_quotes.size() == 1) m_quotes = {};
      if (m_quotes.empty() && m_open.empty()) {
        m_begins = true;
        m_in_header = false;
        m_key = 1;
      }
      return 1;
    }
    if (m_quotes.empty()) {
      if (static_cast<unsigned char>(c) >= 0x80)
        refuse("this is not TOML: a character that is not ASCII stands outside of quotes", "put the word in quotes");
      const std::string_view three = m_text.substr(at, 3);
      if (three == R"(""")" || three == "'''") return (m_quotes = three).size();
      if (c == '"' || c == '\'' || c == '#')
        m_quotes = m_text.substr(at, 1);
      else
        count_levels(c);
    } else if (c == '\\' && m_quotes.front() == '"' && at + 1 < m_text.size() && m_text[at + 1] != '\n') {
      return 2;
    } else if (m_quotes != "#" && m_text.substr(at).starts_with(m_quotes)) {
      const std::size_t length = m_quotes.size();
      m_quotes = {};
      return length;
    }
    return 1;
  }

  void count_levels(char c) {
    if (c == '[' && m_begins) {
      m_in_header = true;
      m_header = 1;
    } else if (c == '.') {
      ++(m_in_header ? m_header : m_key);
    } else if (c == ',') {
      m_key = 1;
    } else if ((c == '[' || c == '{') && !m_in_header) {
      m_open.push_back(m_key);
      m_above += m_key;
      m_key = 1;
    } else if ((c == ']' || c == '}') && !m_open.empty()) {
      m_key = m_open.back();
      m_above -= m_key;
      m_open.pop_back();
    }
    if (c != ' ' && c != '\t' && c != '\r') m_begins = false;
    if (m_header + m_above + m_key > max_levels)
      refuse(fmt::format("values lie inside each other {} deep and deeper", max_levels),
             "no setting lies deeper than a few levels");
  }
};

/// Of a character in a text, from 1.
struct position {
  std::size_t line, column;
};

/// Without its end; empty behind the last one.
std::string_view line_of(std::string_view text, std::size_t number) {
  for (; number > 1 && !text.empty(); --number) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

/// Where a problem is. For a table inside of what is a value already, toml++ names the place behind the header.
position position_of(const toml::parse_error& problem, std::string_view text) {
  position at{problem.source().begin.line, problem.source().begin.column};
  const std::string_view what = problem.description();
  if (what.find("table header") == what.npos || what.find("existing") == what.npos) return at;
  for (std::size_t line = at.line; line > 0; --line)
    if (const std::size_t first = line_of(text, line).find_first_not_of(" \t");
        first != std::string_view::npos && line_of(text, line)[first] == '[')
      return {line, first + 1};
  return at;
}

/// For a word where a value should be; else "".
std::string hint_for(position at, std::string_view text) {
  const std::string_view line = line_of(text, at.line);
  const std::size_t before = line.substr(0, at.column).find_last_of("=[,");
  if (before == line.npos || line.find('=') > before) return {};  // a key
  const std::size_t begin = line.find_first_not_of(" \t", before + 1);
  if (begin == line.npos || std::isalpha(static_cast<unsigned char>(line[begin])) == 0) return {};
  const std::string_view rest = line.substr(begin);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r,]}#\"'"));
  return fmt::format("a text wants quotes: \"{}\"", word);
}

}  // namespace

table parse_toml(std::string_view text, const std::string& source) {
  look_ahead(text, source).run();
  try {
    value top = converted(toml::parse(text, source), source, source);
    return std::get<table>(std::move(top.content));
  } catch (const toml::parse_error& problem) {
    const position at = position_of(problem, text);
    throw error(error_kind::configuration, fmt::format("this is not TOML: {}", problem.description()),
                fmt::format("{}:{}:{}", source, at.line, at.column), hint_for(at, text));
  }
}

std::string read_text_file(const std::filesystem::path& file) {
  std::string text;
  if (const std::error_code reason = read_whole_file(file, text))
    throw error(error_kind::configuration,
                fmt::format("cannot read the file '{}': {}", file.string(),
                            reason == std::errc::is_a_directory ? "it is a directory" : reason.message()),
                {}, "check the path and its permissions");
  return text;
}

}  // namespace tessera::config
