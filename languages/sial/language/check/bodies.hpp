#pragma once
// Bodies of procedures and programs: loops, calls, and what may stand where.
#include <optional>

#include "languages/sial/language/check/statements.hpp"

namespace tessera::sial {

/// The first statement of a procedure, or of what it calls, that no pardo may reach.
struct forbidden_in_pardo {
  std::string word;
  place where;
};

/// By procedure, as they are checked.
using procedure_effects = std::vector<std::optional<forbidden_in_pardo>>;

class body_checker {
 public:
  /// `self` is the procedure whose body it is, or no_symbol.
  body_checker(environment in, procedure_effects& effects, symbol self)
      : m_in(std::move(in)), m_effects(effects), m_self(self) {}

  body check(const std::vector<syntax::statement>& all);

 private:
  statement_form form_of(const syntax::statement& s);
  statement_form do_form(const syntax::statement& s);
  statement_form pardo_form(const syntax::statement& s);
  statement_form if_form(const syntax::statement& s);
  statement_form call_form(const syntax::statement& s);
  statement_form section_form(const syntax::statement& s);

  std::optional<symbol> loop_index(const syntax::name& n, const syntax::name& within);
  std::vector<relation> wheres(const std::vector<syntax::relation>& all);
  body inside_loop(const syntax::statement& s, std::vector<relation>& where, const std::vector<symbol>& indices,
                   bool pardo);
  void not_in_pardo(const syntax::statement& s);
  void has_effect(const std::string& word, place where);

  environment m_in;
  procedure_effects& m_effects;
  symbol m_self;
};

}  // namespace tessera::sial
