#include "libraries/chemistry/molecule/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::chemistry {
namespace {

/// from_chars takes no plus sign.
std::string_view without_plus(std::string_view number) {
  return number.starts_with('+') && !number.starts_with("+-") ? number.substr(1) : number;
}

}  // namespace

text_reader::text_reader(std::string_view text, const std::string& name, text_marks marks)
    : m_rest(text), m_name(name), m_marks(marks) {
  if (m_rest.starts_with(byte_order_mark)) m_rest.remove_prefix(byte_order_mark.size());
}

bool text_reader::next_line() {
  if (m_rest.empty()) return false;
  const auto end = m_rest.find('\n');
  m_line = m_rest.substr(0, end);
  m_rest.remove_prefix(end == m_rest.npos ? m_rest.size() : end + 1);
  if (m_line.ends_with('\r')) m_line.remove_suffix(1);
  m_blank = at_end_of_line();
  if (!m_marks.comment.empty()) m_line = m_line.substr(0, m_line.find_first_of(m_marks.comment));
  m_behind = 0;
  m_place = {m_place.line + 1, 1};
  return true;
}

bool text_reader::next_line_with_words() {
  while (next_line())
    if (!at_end_of_line()) return true;
  return false;
}

bool text_reader::at_end_of_line() const noexcept { return m_line.find_first_not_of(m_marks.between) == m_line.npos; }

std::string_view text_reader::peek() const noexcept {
  const auto begin = std::min(m_line.find_first_not_of(m_marks.between), m_line.size());
  const auto end = std::min(m_line.find_first_of(m_marks.between, begin), m_line.size());
  return m_line.substr(begin, end - begin);
}

std::string_view text_reader::word() {
  const std::string_view found = peek();
  const auto begin = found.empty() ? 0 : static_cast<std::size_t>(found.data() - m_line.data());
  m_place.column = m_behind + begin + 1;
  m_line.remove_prefix(begin + found.size());
  m_behind += begin + found.size();
  return found;
}

double text_reader::number(std::string_view what) {
  const std::string_view written = word();
  if (written.empty()) fail(fmt::format("{} is missing", what));
  std::string text(without_plus(written));
  if (const auto mark = text.find_first_of("dD"); mark != text.npos) text[mark] = 'e';  // Fortran: 1.0D+02
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || status == std::errc::invalid_argument)
    fail(fmt::format("{} is {}, which is not a number", what, in_quotes(written)));
  if (status == std::errc::result_out_of_range)
    fail(fmt::format("{} is {}, which is too large or too small for a number", what, in_quotes(written)));
  if (!std::isfinite(value)) fail(fmt::format("{} is {}, which is not finite", what, in_quotes(written)));
  return value;
}

std::int64_t text_reader::whole(std::string_view what, std::int64_t least, std::int64_t most) {
  const std::string_view written = word();
  if (written.empty()) fail(fmt::format("{} is missing", what));
  const std::string_view digits = without_plus(written);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || status == std::errc::invalid_argument)
    fail(fmt::format("{} is {}, which is not a whole number", what, in_quotes(written)));
  if (status != std::errc{} || value < least || value > most)
    fail(fmt::format("{} is {}, which is not between {} and {}", what, in_quotes(written), least, most));
  return value;
}

void text_reader::expect_end(const std::string& hint) {
  if (const std::string_view more = word(); !more.empty())
    fail(fmt::format("{} is more than this line should have", in_quotes(more)), hint);
}

void text_reader::fail(std::string message, std::string hint) const {
  fail_at(m_place, std::move(message), std::move(hint));
}

void text_reader::fail_at(text_place place, std::string message, std::string hint) const {
  throw error(error_kind::input, std::move(message),
              fmt::format("{}:{}:{}", m_name, std::max<std::size_t>(place.line, 1), place.column), std::move(hint));
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (const char c : word.substr(0, longest)) shown += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return shown + (word.size() > longest ? "...'" : "'");
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::string text_of_file(const std::filesystem::path& file) {
  std::string text;
  if (const std::error_code reason = read_whole_file(file, text))
    throw error(error_kind::input, fmt::format("the file cannot be read: {}", reason.message()), file.string());
  return text;
}

}  // namespace tessera::chemistry
