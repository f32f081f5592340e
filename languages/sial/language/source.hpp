#pragma once
// Texts of programs, places in them, and what is said about them.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::sial {

/// A place in a program's text. Lines and columns count from 1; 0: nowhere.
struct place {
  std::uint32_t file = 0;  ///< index into source_set::files
  std::uint32_t line = 0, column = 0;
  friend bool operator==(const place&, const place&) = default;
};

/// One file of a program.
struct source_file {
  std::string path;                ///< as it was found, for messages
  std::vector<std::string> lines;  ///< without their ends
};

/// All files of a program: the main one first, then imported ones as they were reached, each once.
struct source_set {
  std::vector<source_file> files;
};

/// The lines of a text, without their ends: LF, CR or CRLF. A missing last end is accepted.
std::vector<std::string> split_lines(std::string_view text);

enum class severity : std::uint8_t {
  error,
  warning
};

/// Something that is wrong, or doubtful.
struct message {
  severity level;
  place where;
  std::uint32_t length = 1;  ///< characters to underline
  std::string text;          ///< one sentence without a full stop: "'x' is not declared"
  std::string hint;          ///< what to do; may be empty
};

/// "file:line:column: error: what", the line, a caret, "hint: ...".
std::string to_text(const message& m, const source_set& sources);

}  // namespace tessera::sial
