#include "apps/common/text_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::apps {

text_input::text_input(const std::filesystem::path& file) : m_name(file.string()) {
  if (const std::error_code reason = read_whole_file(file, m_text))
    throw error(error_kind::input,
                reason == std::errc::is_a_directory ? "it is a folder" : "cannot read: " + reason.message(), m_name);
}

void text_input::refuse(std::string text) const {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 127; }, '?');  // a file that is no text
  throw error(error_kind::input, std::move(text), fmt::format("{}:{}", m_name, m_line));
}

void text_input::skip_space() {
  bool begins_line = m_at == 0 || m_text[m_at - 1] == '\n';
  for (; m_at < m_text.size(); ++m_at) {
    const char c = m_text[m_at];
    if (begins_line && c == '#') {
      while (m_at < m_text.size() && m_text[m_at] != '\n') ++m_at;
      if (m_at == m_text.size()) return;
    }
    begins_line = m_text[m_at] == '\n';
    if (begins_line)
      ++m_line;
    else if (std::strchr(" \t\r\v\f", m_text[m_at]) == nullptr || m_text[m_at] == '\0')
      return;
  }
}

std::string_view text_input::word(const char* what) {
  skip_space();
  if (m_at == m_text.size()) refuse(fmt::format("the file ends where {} should be", what));
  const std::size_t begin = m_at;
  m_at = std::min(m_text.find_first_of(" \t\r\v\f\n", m_at), m_text.size());
  return std::string_view(m_text).substr(begin, m_at - begin);
}

std::int64_t text_input::integer(const char* what, std::int64_t low, std::int64_t high) {
  const std::string_view text = word(what);
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size())
    refuse(fmt::format("'{}' is no integer: it should be {}", text.substr(0, 40), what));
  if (value < low || value > high) refuse(fmt::format("{} is {}, and should be from {} to {}", what, value, low, high));
  return value;
}

double text_input::number(const char* what) {
  const std::string_view text = word(what);
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse(fmt::format("'{}' is no number: it should be {}", text.substr(0, 40), what));
  return value;
}

void text_input::skip_line() {
  const std::size_t end = m_text.find('\n', m_at);
  if (end == std::string::npos) refuse("the file ends where another line should be");
  m_at = end + 1;
  ++m_line;
}

std::string_view text_input::line() {
  if (m_at > 0) ++m_line;
  const std::size_t begin = m_at, end = std::min(m_text.find('\n', m_at), m_text.size());
  m_at = std::min(end + 1, m_text.size());
  return std::string_view(m_text).substr(begin, end - begin);
}

bool text_input::at_end() {
  skip_space();
  return m_at == m_text.size();
}

void text_input::expect_end() {
  if (!at_end()) refuse("something follows where the file should end");
}

void read_numbers(const std::filesystem::path& file, const char* what, double* to, std::int64_t count) {
  text_input in(file);
  for (std::int64_t k = 0; k < count; ++k) to[k] = in.number(what);
  if (!in.at_end()) in.refuse(fmt::format("the file has more than the {} numbers that it should have", count));
}

}  // namespace tessera::apps
