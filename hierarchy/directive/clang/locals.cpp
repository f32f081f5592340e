#include "hierarchy/directive/clang/locals.hpp"

#include <clang/AST/Expr.h>

#include "hierarchy/directive/clang/loop.hpp"

namespace tessera::directive {
namespace {

void change(local_variables& in, const clang::Expr* e) {
  if (const clang::VarDecl* v = variable_of(e)) in.changed.insert(v);
}

void read(local_variables& to, const clang::Stmt* s) {
  if (s == nullptr) return;
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(s))
    for (const clang::Decl* d : declaration->decls())
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(d)) to.locals.insert(v);
  if (is_write(s)) change(to, llvm::cast<clang::BinaryOperator>(s)->getLHS());
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(s))
    if (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf) change(to, unary->getSubExpr());
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s))
    for (const clang::Expr* argument : call->arguments())
      if (argument->isLValue() && !argument->getType().isConstQualified()) change(to, argument);
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(s)) {
    if (read_loop(*loop, [](auto&&...) {})) {  // its own step does not count
      read(to, loop->getInit());
      read(to, loop->getBody());
      return;
    }
  }
  for (const clang::Stmt* child : s->children()) read(to, child);
}

}  // namespace

local_variables read_locals(const clang::Stmt& body) {
  local_variables found;
  read(found, &body);
  return found;
}

bool is_write(const clang::Stmt* s) {
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(s);
  return binary != nullptr && binary->isAssignmentOp();
}

}  // namespace tessera::directive
