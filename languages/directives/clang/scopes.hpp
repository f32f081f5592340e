#pragma once
// The blocks, variables and member expressions of the main file, by their places.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <string_view>
#include <vector>

#include "languages/directives/clang/source.hpp"

namespace tessera::directive {

/// What stands where. Answers questions about places.
class scopes {
 public:
  /// @param of, text  must outlive it
  scopes(clang::ASTContext& of, const source& text);

  /// A block of a function.
  struct block {
    extent where;  ///< from { to behind }
    const clang::CompoundStmt* statement = nullptr;
    bool dependent = false;  ///< in a template
  };
  /// The innermost block around a place; null: it is outside of functions.
  const block* block_at(std::size_t at) const;
  /// The variable that a name means at a place; null: none, or none of the main file.
  const clang::VarDecl* variable(std::string_view name, std::size_t at) const;
  /// All member expressions in a part of the file, in the order in which they begin, the longest first.
  std::vector<const clang::MemberExpr*> members(const extent& in) const;

 private:
  friend class scope_reader;
  struct visible {
    const clang::VarDecl* variable;
    extent where;
  };
  const source& m_text;
  std::vector<block> m_blocks;
  std::vector<extent> m_statements;  // for and the like, whose variables end with them
  std::vector<visible> m_variables;
  std::vector<std::pair<extent, const clang::MemberExpr*>> m_members;
};

}  // namespace tessera::directive
