#pragma once
// Canonical loops: for (i = b; i < e; i += s).
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <functional>
#include <optional>
#include <string>

#include "hierarchy/directive/clang/source.hpp"

namespace tessera::directive {

/// A loop whose iterations are known before it begins.
struct canonical_loop {
  const clang::ForStmt* statement = nullptr;
  const clang::VarDecl* index = nullptr;
  const clang::Expr *begin = nullptr, *bound = nullptr, *step = nullptr;  ///< step null: one
  bool down = false;                                                      ///< the step is taken away
  bool inclusive = false;                                                 ///< the bound is an index: <= and >=
};

/// Reads one. `refuse` is told what keeps it from being canonical, where, and what to do.
std::optional<canonical_loop> read_loop(
    const clang::ForStmt& loop,
    const std::function<void(clang::SourceLocation, const std::string&, const std::string&)>& refuse);

/// The index that is not reached, and the step, as expressions.
std::string end_text(const canonical_loop& loop, const source& text);
std::string step_text(const canonical_loop& loop, const source& text);

/// The variable that an expression is; null: it is something else.
const clang::VarDecl* variable_of(const clang::Expr* e);

}  // namespace tessera::directive
