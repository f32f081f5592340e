#pragma once
// What the body of a region's loop does with arrays and with the program's variables.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <map>
#include <set>
#include <vector>

#include "hierarchy/directive/clang/loop.hpp"
#include "hierarchy/directive/clang/reduction.hpp"
#include "hierarchy/directive/clang/report.hpp"
#include "hierarchy/directive/clang/source.hpp"
#include "hierarchy/directive/clang/symbol.hpp"
#include "hierarchy/directive/clang/uses.hpp"

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
