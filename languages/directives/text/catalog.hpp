#pragma once
// The directives and their clauses, as one table: the parser, the help and the documentation agree on it.
#include <span>
#include <string_view>

namespace tessera::directive {

/// What a directive does.
enum class action {
  config,
  loctype,
  location,
  hierarchy,
  draw,
  allocate,
  release,
  copy,
  move,
  adopt,
  unadopt,
  region_begin,
  region_end,
  pause,
  chain_declare,
  chain_begin,
  chain_end
};

/// One clause of a directive: `name(argument)`, or `name` alone.
struct clause_rule {
  /// What stands behind its name.
  enum class form {
    argument,  ///< always (...)
    flag       ///< nothing
  };
  std::string_view name;  ///< as written
  form takes = form::argument;
  bool needed = false;   ///< the directive means nothing without it
  bool repeats = false;  ///< may stand several times
};

/// One directive: its words behind `#pragma`, and its clauses. Where the last word takes an argument itself, as in
/// `memory free(x)`, it is the first clause too.
struct directive_rule {
  action what;
  std::string_view family;  ///< gecko or pointerchain
  std::string_view words;   ///< "memory allocate"
  std::span<const clause_rule> clauses;
  std::string_view example;  ///< behind `#pragma`
  std::string_view does;     ///< one line for the help
};

/// All of them, in the order of the documentation.
std::span<const directive_rule> directive_rules() noexcept;

}  // namespace tessera::directive
