#pragma once
// Text files of numbers, with errors that name the line.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::apps {

/// The words of a file, one after the other; white space is between them, and lines that begin with '#' count as white
/// space. All errors are tessera::error (input) and name file:line.
class text_input {
 public:
  /// Reads the file. Throws when it cannot be read.
  explicit text_input(const std::filesystem::path& file);

  /// The next word as an integer from `low` to `high`. @param what  it is, for messages
  std::int64_t integer(const char* what, std::int64_t low, std::int64_t high);
  /// The next word as a finite number.
  double number(const char* what);
  /// The next word as it is.
  std::string_view word(const char* what);
  /// Goes to the begin of the next line; words may follow.
  void skip_line();
  /// The next line as it is, without its end. Not to be mixed with words.
  std::string_view line();
  bool at_end();      ///< whether no word follows
  void expect_end();  ///< throws when a word follows
  /// Throws, with the line of the last word or line. Characters that do not print are question marks in the message.
  [[noreturn]] void refuse(std::string text) const;
  std::int64_t line_number() const noexcept { return m_line; }  ///< of the last word or line, from 1

 private:
  void skip_space();

  std::string m_name, m_text;
  std::size_t m_at = 0;
  std::int64_t m_line = 1;
};

/// Reads a file of exactly `count` numbers. Throws tessera::error (input).
void read_numbers(const std::filesystem::path& file, const char* what, double* to, std::int64_t count);

}  // namespace tessera::apps
