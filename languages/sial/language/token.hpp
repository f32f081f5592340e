#pragma once
// The words of a program.
#include <string>
#include <string_view>
#include <vector>

#include "languages/sial/language/messages.hpp"

namespace tessera::sial {

enum class token_kind : std::uint8_t {
  identifier,      ///< text: lower case; "program.name" when qualified
  keyword,         ///< text: lower case
  int_literal,     ///< i
  scalar_literal,  ///< d
  text,            ///< text: what stands between the quotes
  mark,            ///< an operator or punctuation, in text
  line_end,        ///< never two in a row, none at the beginning
  end              ///< always the last; a line_end stands before it unless nothing does
};

struct token {
  token_kind kind = token_kind::end;
  place where;
  std::uint32_t length = 1;  ///< characters in the source
  std::string text;
  std::int64_t i = 0;
  double d = 0;

  bool is(std::string_view word) const {
    return (kind == token_kind::keyword || kind == token_kind::mark) && text == word;
  }
  operator span() const { return {where, length}; }
};

const std::vector<std::string>& reserved_words();
/// Whether a lower-case word is reserved.
bool is_reserved(std::string_view word);

/// The words of one file. Says what is wrong with the characters and goes on behind it.
std::vector<token> lex(std::string_view text, std::uint32_t file, message_list& messages);

/// One line of the source a line: "identifier a, mark =, int 5".
std::string to_text(const std::vector<token>& tokens);

/// How messages name a token: "'x'", "the end of the line".
std::string shown(const token& t);

}  // namespace tessera::sial
