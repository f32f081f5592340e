#pragma once
// Expressions of a body in C++ -> the same in tessera-c. Pure.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hierarchy/region/body_words.hpp"

namespace tessera::hierarchy {

/// A mistake in a body.
struct body_fault {
  std::string what;  ///< the mistake
  std::string hint;  ///< what to do
  std::size_t at;    ///< in the statements
};

/// A name that statements may use.
struct body_name {
  /// What it is.
  enum class kind {
    index,
    array,
    result,
    number,      ///< a capture
    local,       ///< a variable of the body
    local_array  ///< an array of the body
  };
  std::string name;  ///< in C++
  kind is;
  body_number type;            ///< of its elements
  std::size_t dimensions = 1;  ///< of a local array
};

/// Names whose values an expression needs or changes.
struct touched_names {
  std::vector<std::string> read, changed;
  /// Those of both.
  friend touched_names operator+(touched_names a, const touched_names& b);
  /// One that `a` changes and `b` needs or changes; "": there is none.
  friend std::string conflict_of(const touched_names& a, const touched_names& b);
};
/// An expression in tessera-c.
struct expression {
  std::string text;
  body_number type = body_number::none;
  bool atom = true;            ///< needs no brackets as a part of others
  touched_names touched = {};  ///< of a place those of its indices
  std::string place = {};      ///< name of what can be assigned to; "": it cannot
  bool is_scalar = false;      ///< of a place: it is no element
  bool changes() const noexcept { return !touched.changed.empty(); }  ///< something
  /// As a value.
  touched_names value_touched() const;
};
/// As the value of a variable of a type.
std::string value_text(const expression& e, body_number to);

/// Reads expressions from tokens, of which it has what comes next. Functions without a comment read the form of
/// expressions that they are named after. All throw body_fault.
class expression_reader {
 protected:
  struct scope {
    std::vector<body_name> names;
    std::map<std::string, body_number, std::less<>> types;
  };

  expression_reader(std::string_view text, const std::vector<body_name>& names);

  const token& now() const { return m_tokens[m_at]; }
  const token& behind(std::size_t k = 1) const { return m_tokens[std::min(m_at + k, m_tokens.size() - 1)]; }
  bool is(std::string_view text) const {
    return now().text == text && now().is != token::kind::literal && now().is != token::kind::end;
  }
  bool take(std::string_view text);
  void expect(std::string_view text, std::string_view where);
  std::string seen() const;
  [[noreturn]] void refuse(std::string what, std::string hint) const;
  [[noreturn]] static void refuse_at(std::size_t at, std::string what, std::string hint);
  void check_word() const;
  const body_name* find(std::string_view name) const;
  body_name& declare(const token& name, body_number type);
  [[noreturn]] void refuse_name(const token& name) const;
  /// A type at this place, which is taken; none: there is no type.
  std::optional<body_number> type_here();
  /// element_of<decltype(x)>
  std::optional<body_number> type_of_elements();
  std::optional<body_number> type_of_parts();
  std::string type_seen() const;
  expression comma();
  expression assignment();
  expression choice();
  static int strength(std::string_view sign);
  expression binary(int weakest);
  expression unary();
  static std::string bracketed_for_sign(const expression& e);
  void check_counted(const expression& of, const token& sign) const;
  /// Refuses operands whose values depend on which is computed first.
  static void check_order(const touched_names& a, const touched_names& b, const token& sign);
  expression postfix(expression of);
  expression word();
  expression element(const body_name& array, const token& name);
  expression static_cast_here();
  /// double(x), double{x}
  expression value_of_type(body_number type, const token& name);
  expression of_std();
  expression call(const device_function& what, const token& name);
  static std::string wrapped(const expression& e);
  /// A number as C has it.
  expression literal(const token& of);

  std::vector<token> m_tokens;
  std::size_t m_at = 0;
  std::vector<scope> m_scopes;  // the first one has the names from outside
  bool m_doubles = false;       // there is a number of type double
};

}  // namespace tessera::hierarchy
