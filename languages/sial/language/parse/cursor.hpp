#pragma once
// Where the parser stands in the tokens of a file.
#include <initializer_list>
#include <optional>

#include "languages/sial/language/parser.hpp"

namespace tessera::sial {

/// Thrown and caught inside the parser: this line is not understood; its message has been given.
struct line_failed {};

class cursor {
 public:
  cursor(const std::vector<token>& tokens, message_list& messages) : m_tokens(tokens), m_messages(messages) {}

  const token& here() const { return m_tokens[m_at]; }
  const token& ahead() const { return m_tokens[m_at + 1 < m_tokens.size() ? m_at + 1 : m_at]; }
  const token& take() { return m_tokens[here().kind == token_kind::end ? m_at : m_at++]; }
  bool at_end() const { return here().kind == token_kind::end; }
  bool at_line_end() const { return here().kind == token_kind::line_end || at_end(); }

  /// Steps over the word when it is here.
  bool accept(std::string_view word) { return here().is(word) ? (take(), true) : false; }

  [[noreturn]] void fail(span where, std::string what, std::string hint = {}) {
    m_messages.error(where, std::move(what), std::move(hint));
    throw line_failed{};
  }
  /// "expected WHAT, not THIS"
  [[noreturn]] void expected(const std::string& what, std::string hint = {});

  void expect(std::string_view mark, const std::string& after);
  /// An identifier, maybe qualified. `what` as in "a name for the array".
  syntax::name name(const std::string& what);
  /// One that is being declared: not qualified.
  syntax::name new_name(const std::string& what);
  std::string text(const std::string& what);
  void end_of_line(const std::string& after);
  void skip_line();

  message_list& messages() { return m_messages; }

 private:
  const std::vector<token>& m_tokens;
  message_list& m_messages;
  std::size_t m_at = 0;
};

}  // namespace tessera::sial
