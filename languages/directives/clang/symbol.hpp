#pragma once
// What a name in the body of a loop stands for.
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <map>
#include <string>

namespace tessera::directive {

/// The variables that stand for a chain.
struct chain_variable {
  std::string name;
  std::string elements;  ///< has them, where the chain has a range; empty: it is a number, or an array of the program
};
/// Chains of a pointerchain region.
using chain_names = std::map<const clang::MemberExpr*, chain_variable>;

/// A variable of the program, or a chain that stands for one.
struct symbol {
  std::string name;  ///< empty: it is neither
  clang::QualType type;
  const clang::VarDecl* variable = nullptr;  ///< null: a chain
  std::string elements = {};                 ///< as of chain_variable
  std::string written = {};                  ///< where it is more than the name: `ns::x`, `::x`
};
symbol symbol_of(const clang::Expr* e, const chain_names& chains);

}  // namespace tessera::directive
