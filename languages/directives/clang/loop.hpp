#pragma once
// Canonical loops: for (i = b; i < e; i += s).
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::directive {

/// A loop whose iterations are known before it begins.
struct canonical_loop {
  const clang::ForStmt* statement = nullptr;
  const clang::VarDecl* index = nullptr;
  const clang::Expr *begin = nullptr, *bound = nullptr, *step = nullptr;  ///< step null: one
  bool down = false;                                                      ///< the step is taken away
  bool inclusive = false;                                                 ///< the bound is an index: <= and >=
  clang::BinaryOperatorKind test = clang::BO_LT;                          ///< of the index, on the left, with the bound

  const clang::BinaryOperator& condition() const {
    return *llvm::cast<clang::BinaryOperator>(statement->getCond()->IgnoreParenImpCasts());
  }
  /// The type in which the condition compares.
  clang::QualType compared() const { return condition().getLHS()->getType(); }
  /// Whether the step, where its sign is known, leads from the first index away from the bound.
  bool leads_away() const;
};

/// Is told what keeps loops from being canonical, where, and what to do.
using refuse_loop = std::function<void(clang::SourceLocation, const std::string&, const std::string&)>;

/// Of what C++ says, in any type of up to 64 bits: where its index wraps around, the program finds out when it runs.
std::optional<canonical_loop> read_loop(const clang::ForStmt& loop, const refuse_loop& refuse);

/// The loops whose iterations are those of a region, outermost first.
struct loop_nest {
  std::vector<canonical_loop> loops;
  const canonical_loop& outer() const noexcept { return loops.front(); }
  const clang::Stmt& body() const noexcept { return *loops.back().statement->getBody(); }
};
/// Reads so many. Where there are several, nothing stands between them, each counts up in steps of one, and the range
/// of none depends on another one's index.
std::optional<loop_nest> read_nest(const clang::ForStmt& outer, std::size_t depth, const refuse_loop& refuse);

/// Whether it counts up or down in steps of one.
bool counts_by_one(const canonical_loop& loop);

/// The variable that an expression is; null: it is something else.
const clang::VarDecl* variable_of(const clang::Expr* e);

}  // namespace tessera::directive
