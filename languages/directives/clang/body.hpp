#pragma once
// What the body of a region's loop does with arrays and with the program's variables.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <map>
#include <set>
#include <vector>

#include "languages/directives/clang/loop.hpp"
#include "languages/directives/clang/reduction.hpp"
#include "languages/directives/clang/report.hpp"
#include "languages/directives/clang/source.hpp"
#include "languages/directives/clang/symbol.hpp"
#include "languages/directives/clang/uses.hpp"

namespace tessera::directive {

/// All of it, in the order of the text.
struct body_facts {
  std::vector<body_array> arrays;
  std::vector<body_scalar> scalars;
  std::set<const clang::VarDecl*> locals;             ///< declared in the body
  std::vector<const clang::ContinueStmt*> continues;  ///< those that end an iteration
  std::map<const clang::VarDecl*, bool> reduced;      ///< variables with a step, and whether it is one of bits
  std::vector<const clang::DeclRefExpr*> qualified;   ///< `ns::x`, `::x`: in the body their names alone will stand
};

/// Reads the body of loops. Reports what would race, and what cannot be taken to where a region runs.
body_facts read_body(const loop_nest& nest, const std::vector<body_reduction>& reductions, const chain_names& chains,
                     clang::ASTContext& context, const source& text, report& messages);

}  // namespace tessera::directive
