#pragma once
// As much of Markdown as the checks of the documents need: which lines are code, tables, headings, and what links say.
#include <cstddef>
#include <string>
#include <vector>

namespace documents {

enum class line_kind {
  text,
  heading,
  table,
  code
};  // code: inside a fence or indented by four blanks; fences too

struct line {
  std::size_t number = 0;  // counted from 1
  line_kind kind = line_kind::text;
  std::string text;
};

/// The lines of a page, without their ends.
std::vector<line> lines_of(const std::string& page);

/// A word as it is read aloud, and the line that it is on.
struct word {
  std::string text;  // a code span is one word, and the target of a link none
  std::size_t line = 0;
};

/// The words of each paragraph, of each entry of a list, and of each cell of a table, outside of code and headings.
/// Signs between words, such as a dash, belong to the word before them. None is empty.
std::vector<std::vector<word>> paragraphs(const std::string& page);

/// The contents of each fenced block whose fence says ```LANGUAGE, in order.
std::vector<std::string> code_blocks(const std::string& page, const std::string& language);

/// The line with everything between a pair of backticks replaced by blanks; its length stays.
std::string without_code_spans(const std::string& text);

/// What stands between pairs of backticks outside of code blocks.
std::vector<std::string> code_spans(const std::string& page);

/// The targets of [words](target) and ![words](target) outside of code.
std::vector<std::string> links(const std::string& page);

/// The anchors of all headings, as hosts of repositories make them: lower case, blanks as '-', other signs dropped; the
/// second heading of a name ends in "-1".
std::vector<std::string> anchors(const std::string& page);

/// The cells of a row of a table, trimmed. `\|` does not separate cells.
std::vector<std::string> cells(const std::string& row);

}  // namespace documents
