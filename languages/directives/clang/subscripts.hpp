#pragma once
// Subscripts in the body of loops, as polynomials.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "languages/directives/clang/locals.hpp"
#include "languages/directives/clang/loop.hpp"
#include "languages/directives/clang/reduction.hpp"
#include "languages/directives/clang/source.hpp"
#include "languages/directives/clang/symbol.hpp"
#include "languages/directives/text/reach.hpp"

namespace tessera::directive {

/// Reads subscripts as polynomials of names: of the program's variables, of indices of loops, and of what changes from
/// iteration to iteration in a way that is not understood, which gets a name of its own each time.
class subscript_reader {
 public:
  /// The caller keeps all of them.
  subscript_reader(const loop_nest& nest, const std::vector<body_reduction>& reductions, const chain_names& chains,
                   const local_variables& known, const clang::ASTContext& context, const source& text)
      : m_nest(nest), m_reductions(reductions), m_chains(chains), m_known(known), m_context(context), m_text(text) {}

  /// A loop inside of the region's, around what is read.
  struct open_loop {
    const clang::VarDecl* index;
    inner_loop range;
    bool unit_step;
  };
  /// Whether the index of a loop inside surely stays between its first value and its bound.
  bool understood(const canonical_loop& loop) const;
  /// A loop that is understood is around what is read from now on, until it is closed.
  void open(const canonical_loop& loop, bool unit_step);
  void close() { m_open.pop_back(); }
  const std::vector<open_loop>& loops_around() const noexcept { return m_open; }  ///< the outermost first

  /// The subscripts of one access, as written.
  std::vector<polynomial> read(const std::vector<const clang::Expr*>& subscripts);
  /// What is known of the names in those that were read last.
  subscript_names names();

 private:
  std::optional<std::int64_t> number_of(const clang::Expr* e) const;
  std::string term_of(const clang::VarDecl& v);
  polynomial value_of(const clang::Expr* e);
  std::uint64_t narrowest(const clang::Expr* e) const;
  polynomial unbounded_value_of(const clang::Expr* e);
  polynomial varying(const std::string& shown);
  bool varies(const clang::Stmt* s) const;

  const loop_nest& m_nest;
  const std::vector<body_reduction>& m_reductions;
  const chain_names& m_chains;
  const local_variables& m_known;
  const clang::ASTContext& m_context;
  const source& m_text;
  std::vector<open_loop> m_open;
  std::set<std::string> m_varying;                       // parts of what is read
  std::map<const clang::VarDecl*, std::string> m_terms;  // names of the body's own variables, as of term_of
  std::size_t m_values = 0;                              // names of what varies
};

}  // namespace tessera::directive
