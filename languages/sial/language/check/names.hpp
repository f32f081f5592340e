#pragma once
// What names mean: those that a file declares, and those of the files that it imports itself.
#include <map>
#include <string>
#include <vector>

#include "languages/sial/language/messages.hpp"
#include "languages/sial/language/program.hpp"
#include "languages/sial/language/syntax.hpp"

namespace tessera::sial {

/// Thrown and caught inside the checker: this statement is wrong, and its message has been given.
struct check_failed {};

enum class entity_kind : std::uint8_t {
  program,
  index,
  integer,
  scalar,
  array,
  special,
  procedure,
  unclear
};

struct entity {
  entity_kind kind = entity_kind::unclear;  ///< unclear: declared, but not understood
  symbol number = no_symbol;                ///< in the program's table of its kind
  place where;
};

/// "an index", "an int", ...
std::string with_article(entity_kind kind);

/// The names of one file.
class scope {
 public:
  scope(const syntax::file& file, std::vector<const scope*> imported, const source_set& sources,
        message_list& messages);

  /// Adds a name unless it is taken; says so then and gives false.
  bool declare(const syntax::name& n, entity_kind kind, symbol number);
  /// What a name means. Says what is wrong with it, and throws check_failed.
  const entity& find(const syntax::name& n) const;
  /// Its number, if it is of that kind.
  symbol find(const syntax::name& n, entity_kind kind) const;

  const std::string& program() const { return m_program; }
  [[noreturn]] void fail(span where, std::string what, std::string hint = {}) const {
    m_messages.error(where, std::move(what), std::move(hint));
    throw check_failed{};
  }

 private:
  const entity* own(const std::string& name) const;
  const entity& qualified(const syntax::name& n, std::size_t dot) const;
  void add_names(std::vector<std::string>& names) const;
  [[noreturn]] void unknown(const syntax::name& n) const;

  std::string m_program;
  std::vector<const scope*> m_imported;
  const source_set& m_sources;
  message_list& m_messages;
  std::map<std::string, entity, std::less<>> m_own;
  std::map<std::string, place, std::less<>> m_later;  ///< all declarations of the file, for hints
  bool m_complete;
};

}  // namespace tessera::sial
