#pragma once
// s += e, s = min(s, e), if (e < s) s = e, ...: one step of a reduction.
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <string>

namespace tessera::directive {

/// A step of a reduction to a variable.
struct reduction_step {
  const clang::VarDecl* variable = nullptr;  ///< null: the statement is none
  std::string operation;                     ///< + * min max && ||
  const clang::Expr* value = nullptr;        ///< what joins; null: one
};
reduction_step reduction_step_of(const clang::Stmt* s);

}  // namespace tessera::directive
