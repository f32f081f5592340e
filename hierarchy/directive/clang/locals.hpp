#pragma once
// The variables that a body declares and changes.
#include <clang/AST/Decl.h>
#include <clang/AST/Stmt.h>

#include <set>

namespace tessera::directive {

/// Of the body of a loop.
struct local_variables {
  std::set<const clang::VarDecl*> locals;   ///< declared in it
  std::set<const clang::VarDecl*> changed;  ///< perhaps by what a function does with a reference; loops count their own
                                            ///< index up without that
};
local_variables read_locals(const clang::Stmt& body);

/// `=`, `+=` and their like.
bool is_write(const clang::Stmt* s);

}  // namespace tessera::directive
