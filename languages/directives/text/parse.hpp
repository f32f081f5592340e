#pragma once
// The text of a directive -> its parts. Pure: no Clang.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "languages/directives/text/catalog.hpp"

namespace tessera::directive {

/// A piece of a directive's text, and where it begins there.
struct placed_text {
  std::string text;
  std::size_t at = 0;  ///< characters before it
};

/// What is wrong with a directive, and where in its text.
class syntax_error : public std::runtime_error {
 public:
  /// @param at  characters of the text before the place
  syntax_error(std::size_t at, const std::string& message, std::string hint = {})
      : std::runtime_error(message), m_at(at), m_hint(std::move(hint)) {}
  std::size_t at() const noexcept { return m_at; }             ///< characters before the place
  const std::string& hint() const noexcept { return m_hint; }  ///< what to write instead; may be empty

 private:
  std::size_t m_at;
  std::string m_hint;
};

/// A clause as written.
struct clause {
  placed_text name;
  placed_text argument;  ///< what is between the parentheses; empty for a flag
};

/// A directive as written.
struct directive {
  const directive_rule* rule = nullptr;
  std::vector<clause> clauses;

  /// The first clause of this name; null: there is none.
  const clause* find(std::string_view name) const noexcept;
  /// The argument of a clause that the rule needs.
  const placed_text& needed(std::string_view name) const { return find(name)->argument; }
};

/// `text` is what stands behind `#pragma`, without comments: "gecko region at(LocA)". Throws syntax_error for words
/// that are no directive and clauses that it does not have (hint: the nearest), clauses that are missing or stand
/// twice, and parentheses that do not match.
directive parse_directive(std::string_view text);

/// "x, y" -> its parts, at commas outside of brackets and quotes, without the spaces around them. Throws syntax_error
/// for an empty part.
std::vector<placed_text> parse_list(const placed_text& list);

/// Whether a text is a number of C++ that has a fraction or an exponent: 1.5, 1e3.
bool is_fraction(std::string_view text);

/// A part of an array: x[first:count], with one range per dimension.
struct section {
  /// One dimension.
  struct range {
    std::string first, count;  ///< expressions of the program
  };
  placed_text name;           ///< an expression of the program, x
  std::vector<range> ranges;  ///< one to three
};
/// Throws syntax_error where the text is none.
section parse_section(const placed_text& text);

/// `+:s` -> the operation and the names behind it.
struct reduction_clause {
  std::string operation;           ///< + * min max && ||
  std::vector<placed_text> names;  ///< of scalars
};
/// Throws syntax_error for an operation that there is not.
reduction_clause parse_reduction(const placed_text& text);

/// The number of collapse(2). Throws syntax_error for another one than 1, 2 or 3.
std::size_t parse_collapse(const placed_text& text);

/// `sim->atoms->x[0:n]{double*}`: a chain, the elements that it leads to, and its type.
struct chain {
  placed_text path;                    ///< sim->atoms->x
  std::vector<section::range> ranges;  ///< up to three; none: a number, or an array of the program
  std::string type;                    ///< double*
};
/// Throws syntax_error where the type is missing, and for ranges that do not begin at 0.
std::vector<chain> parse_chains(const placed_text& text);

/// The text of a name: `"LocA"` and `LocA` are LocA.
std::string unquoted(std::string_view text);

}  // namespace tessera::directive
