#pragma once
// The variables that a body declares and changes.
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

#include <set>

namespace tessera::directive {

/// Of the body of a loop.
struct local_variables {
  std::set<const clang::VarDecl*> locals;   ///< declared in it
  std::set<const clang::VarDecl*> changed;  ///< or perhaps: their address or a reference to them is somewhere; loops
                                            ///< count their own index up without that
  std::set<const clang::VarDecl*> counted;  ///< by a loop that counts as those of regions do
};
local_variables read_locals(const clang::Stmt& body);

/// `=`, `+=` and their like.
bool is_write(const clang::Stmt* s);

/// What `=`, `+=`, `++` and their like change; null: it is none of them.
const clang::Expr* target_of(const clang::Stmt* s);

/// Whether the value of a part of a statement is of no use.
bool discards(const clang::Stmt& s, const clang::Stmt* part);

/// Calls `of` with a statement or an expression, and with all that is in it.
template <class Function>
void each(const clang::Stmt* s, const Function& of) {
  if (s == nullptr) return;
  of(*s);
  for (const clang::Stmt* child : s->children()) each(child, of);
}

/// What an expression only reads: the operand of a cast to its value, to void, or to a constant. Null: it is no such
/// cast.
const clang::Expr* read_by(const clang::Expr& e);

/// Whether a constructor copies what it gets, although it takes references: those of pairs and tuples of values.
bool copies_arguments(const clang::CXXConstructExpr& made);

}  // namespace tessera::directive
