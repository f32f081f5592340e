#pragma once
// Reductions, and their steps: s += e, s = min(s, e), if (e < s) s = e, ...
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <string>
#include <vector>

namespace tessera::directive {

/// A step of a reduction to a variable.
struct reduction_step {
  const clang::VarDecl* variable = nullptr;  ///< null: the statement is none
  std::string operation;                     ///< + * min max && ||
  const clang::Expr* value = nullptr;        ///< what joins; null: one
  bool bits = false;                         ///< by &= or |=, which keep other bits than && and ||
};
reduction_step reduction_step_of(const clang::Stmt* s);

/// A reduction that the directive names.
struct body_reduction {
  std::string name, operation;
  const clang::VarDecl* variable = nullptr;
  std::size_t at = 0;  ///< where the directive names it
};
/// The one to a variable; null: there is none.
const body_reduction* find_reduction(const std::vector<body_reduction>& among, const clang::VarDecl* v);

}  // namespace tessera::directive
