#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "languages/sial/language/token.hpp"

namespace tessera::sial {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

// Longer ones first.
constexpr std::array<std::string_view, 23> marks = {"**", "<=", ">=", "==", "!=", "+=", "-=", "*=", "+", "-", "*", "/",
                                                    "^",  "(",  ")",  "[",  "]",  ",",  ":",  "<",  ">", "=", "."};

// What other languages write and this one does not have.
std::string hint_for(char c) {
  switch (c) {
    case '!':
      return "'!=' is the relation; there is no 'not'";
    case '&':
    case '|':
      return "there is no 'and' and no 'or'; nest 'if' statements, write several 'where' lines";
    case ';':
      return "a statement ends with its line";
    case '\'':
      return "texts stand in double quotes";
    case '{':
    case '}':
      return "subscripts stand in [ ], expressions in ( )";
    case '_':
      return "names begin with a letter";
    default:
      return {};
  }
}

class lexer {
 public:
  lexer(std::string_view text, std::uint32_t file, message_list& messages)
      : m_text(text), m_file(file), m_messages(messages) {}

  std::vector<token> run() {
    while (m_at < m_text.size()) next();
    end_line();
    add(token_kind::end, m_at, 0);
    return std::move(m_tokens);
  }

 private:
  char at(std::size_t k) const { return k < m_text.size() ? m_text[k] : '\n'; }

  place place_of(std::size_t k) const { return {m_file, m_line, static_cast<std::uint32_t>(k - m_line_start) + 1}; }

  token& add(token_kind kind, std::size_t from, std::size_t length) {
    token t;
    t.kind = kind, t.where = place_of(from), t.length = static_cast<std::uint32_t>(length);
    return m_tokens.emplace_back(std::move(t));
  }

  void wrong(std::size_t from, std::size_t length, std::string what, std::string hint = {}) {
    m_messages.error({place_of(from), static_cast<std::uint32_t>(length)}, std::move(what), std::move(hint));
  }

  void end_line() {
    if (!m_tokens.empty() && m_tokens.back().kind != token_kind::line_end) add(token_kind::line_end, m_at, 1);
  }

  void next() {
    const char c = m_text[m_at];
    if (c == '\n' || c == '\r') {
      end_line();
      m_at += c == '\r' && at(m_at + 1) == '\n' && m_at + 1 < m_text.size() ? 2 : 1;
      m_line_start = m_at, ++m_line;
    } else if (is_blank(c)) {
      ++m_at;
    } else if (c == '#') {
      comment();
    } else if (is_letter(c)) {
      word();
    } else if (is_digit(c) || (c == '.' && is_digit(at(m_at + 1)))) {
      number();
    } else if (c == '"') {
      text();
    } else {
      mark();
    }
  }

  // Whether a byte may stand in a program at all; says so once a line.
  bool allowed(std::size_t k) {
    const auto byte = static_cast<unsigned char>(m_text[k]);
    if (byte < 0x80) return true;
    if (m_bad_line != m_line)
      wrong(k, 1, fmt::format("byte 0x{:02X} is not 7-bit ASCII", byte),
            "programs are plain ASCII, comments and texts too");
    m_bad_line = m_line;
    return false;
  }

  void comment() {
    for (; m_at < m_text.size() && m_text[m_at] != '\n' && m_text[m_at] != '\r'; ++m_at) allowed(m_at);
  }

  std::string lower_name() {
    std::string name;
    for (; m_at < m_text.size() && in_name(m_text[m_at]); ++m_at)
      name += m_text[m_at] >= 'A' && m_text[m_at] <= 'Z' ? static_cast<char>(m_text[m_at] - 'A' + 'a') : m_text[m_at];
    return name;
  }

  void word() {
    const std::size_t from = m_at;
    std::string name = lower_name();
    if (at(m_at) == '.' && is_letter(at(m_at + 1))) {
      ++m_at;
      const std::string second = lower_name();
      const bool third = at(m_at) == '.' && is_letter(at(m_at + 1));
      if (third || is_reserved(name) || is_reserved(second)) {
        while (at(m_at) == '.' && is_letter(at(m_at + 1))) ++m_at, lower_name();
        wrong(from, m_at - from,
              third ? "a qualified name has two parts"
                    : fmt::format("'{}' is a reserved word", is_reserved(name) ? name : second),
              "write program.name");
      }
      name += "." + second;
      add(token_kind::identifier, from, m_at - from).text = std::move(name);
      return;
    }
    const bool reserved = is_reserved(name);
    add(reserved ? token_kind::keyword : token_kind::identifier, from, m_at - from).text = std::move(name);
  }

  void number() {
    const std::size_t from = m_at;
    while (is_digit(at(m_at))) ++m_at;
    const bool whole = at(m_at) != '.';
    if (!whole)
      for (++m_at; is_digit(at(m_at));) ++m_at;
    const std::string_view digits = m_text.substr(from, m_at - from);
    if (in_name(at(m_at)) || (!whole && at(m_at) == '.')) {
      const bool exponent = (at(m_at) | 0x20) == 'e' || (at(m_at) | 0x20) == 'd';
      while (in_name(at(m_at)) || at(m_at) == '.') ++m_at;
      wrong(from, m_at - from,
            fmt::format("'{}' is not a number", m_text.substr(from, std::min<std::size_t>(m_at - from, 40))),
            exponent ? "numbers have no exponent: write 0.001 for 1e-3" : "names begin with a letter");
    }
    token& t = add(whole ? token_kind::int_literal : token_kind::scalar_literal, from, m_at - from);
    const char* end = digits.data() + digits.size();
    const auto [stop, error] =
        whole ? std::from_chars(digits.data(), end, t.i) : std::from_chars(digits.data(), end, t.d);
    if (error == std::errc::result_out_of_range &&
        (whole || t.d != 0 || digits.find_first_not_of("0.") < digits.find('.')))
      wrong(from, digits.size(), whole ? "this integer does not fit into 64 bits" : "this number is too large");
  }

  void text() {
    const std::size_t from = m_at++;
    std::string inside;
    for (; m_at < m_text.size() && m_text[m_at] != '\n' && m_text[m_at] != '\r'; ++m_at) {
      if (m_text[m_at] == '"') {
        ++m_at;
        add(token_kind::text, from, m_at - from).text = std::move(inside);
        return;
      }
      if (allowed(m_at)) inside += m_text[m_at];
    }
    wrong(from, m_at - from, "this text has no closing quote", "a text ends on its line");
    add(token_kind::text, from, m_at - from).text = std::move(inside);
  }

  void mark() {
    for (const std::string_view m : marks) {
      if (m == "." || !m_text.substr(m_at).starts_with(m)) continue;
      add(token_kind::mark, m_at, m.size()).text = m;
      m_at += m.size();
      return;
    }
    const char c = m_text[m_at];
    if (allowed(m_at)) {
      if (m_bad_line != m_line) {
        if (c == '.')
          wrong(m_at, 1, "a dot stands alone",
                "no blanks around the dot of a qualified name, digits behind or before that of a number");
        else if (c >= ' ' && c <= '~')
          wrong(m_at, 1, fmt::format("'{}' is not a character of the language", c), hint_for(c));
        else
          wrong(m_at, 1, fmt::format("character 0x{:02X} is not one of the language", static_cast<unsigned>(c)));
      }
      m_bad_line = m_line;
    }
    ++m_at;
  }

  std::string_view m_text;
  std::uint32_t m_file, m_line = 1, m_bad_line = 0;
  message_list& m_messages;
  std::size_t m_at = 0, m_line_start = 0;
  std::vector<token> m_tokens;
};

}  // namespace

std::vector<token> lex(std::string_view text, std::uint32_t file, message_list& messages) {
  return lexer(text, file, messages).run();
}

}  // namespace tessera::sial
