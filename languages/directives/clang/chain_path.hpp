#pragma once
// A chain of pointers in the tree -> the links that the library follows.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include "languages/directives/clang/source.hpp"
#include "languages/directives/text/model.hpp"

namespace tessera::directive {

/// What keeps an expression from being a chain, and what to do.
struct no_chain {
  clang::SourceLocation where;
  std::string message, hint;
};

/// The links of `sim->cells[k].atoms->x`: members, which may be behind smart pointers and in containers, and elements.
/// What no link can be, such as a call, is a part of the root. Throws no_chain for members that have no address.
chain_path chain_path_of(const clang::MemberExpr& last, const clang::ASTContext& context, const source& text);

}  // namespace tessera::directive
