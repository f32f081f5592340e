#pragma once
// Lines and words of a text, and where they are.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::chemistry {

/// Where a word stands: line and column from 1, the column in bytes.
struct text_place {
  std::size_t line = 1, column = 1;
};

/// What some programs write in front of a text in UTF-8.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// What marks words and comments of a format.
struct text_marks {
  std::string_view between = " \t\r";  ///< characters that set words apart
  std::string_view comment = {};       ///< characters that begin a comment, to the end of the line
};

/// Walks over the lines of a text and over the words of a line. Numbers do not depend on the locale. A byte order mark
/// and CRLF are no part of the text. What it throws is tessera::error of kind input with name:line:column. Text and
/// name outlive it.
class text_reader {
 public:
  text_reader(std::string_view text, const std::string& name, text_marks marks = {});

  /// Goes to the next line. False at the end.
  bool next_line();
  /// The next line with a word in it. False at the end.
  bool next_line_with_words();
  /// The next word of the line; "" behind the last.
  std::string_view word();
  /// The same word again and again: none is taken.
  std::string_view peek() const noexcept;
  /// What is left of the line.
  std::string_view rest_of_line() const noexcept { return m_line; }
  /// Whether the line has no more words.
  bool at_end_of_line() const noexcept;
  /// Whether the whole line has neither words nor a comment.
  bool at_blank_line() const noexcept { return m_blank; }

  /// A finite number: the next word. Exponents are marked by e or d. `what` is for messages: "the exponent".
  double number(std::string_view what);
  /// A whole number between two limits.
  std::int64_t whole(std::string_view what, std::int64_t least, std::int64_t most);
  /// Refuses more words.
  void expect_end(const std::string& hint = {});

  /// Of the last word that was read, or where a missing one should be.
  text_place place() const noexcept { return m_place; }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;
  [[noreturn]] void fail_at(text_place place, std::string message, std::string hint = {}) const;

 private:
  std::string_view m_rest, m_line;
  std::size_t m_behind = 0;  ///< bytes of the line that have been read
  const std::string& m_name;
  text_marks m_marks;
  text_place m_place{0, 1};
  bool m_blank = false;
};

/// A word for a message, in quotes: long ones are cut, and what does not print is "?".
std::string in_quotes(std::string_view word);

/// ASCII letters as small ones.
std::string in_small_letters(std::string_view text);

/// All of a file. Throws tessera::error of kind input with the system's reason.
std::string text_of_file(const std::filesystem::path& file);

}  // namespace tessera::chemistry
