#pragma once
// What the body of a region's loop does with arrays and with the program's variables.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hierarchy/directive/clang/loop.hpp"
#include "hierarchy/directive/clang/report.hpp"
#include "hierarchy/directive/clang/source.hpp"
#include "hierarchy/directive/text/reach.hpp"

namespace tessera::directive {

/// Chains of a pointerchain region, and the variables that stand for them.
using chain_names = std::map<const clang::MemberExpr*, std::string>;

/// A variable of the program, or a chain that stands for one.
struct symbol {
  std::string name;  ///< empty: it is neither
  clang::QualType type;
  const clang::VarDecl* variable = nullptr;  ///< null: a chain
};
symbol symbol_of(const clang::Expr* e, const chain_names& chains);

/// One x[...] in the body.
struct array_access {
  const clang::Expr* where = nullptr;
  bool reads = false, writes = false;
  bool always = false;  ///< in each iteration, and the loops around it count in steps of one
  row_reach reach;
};

/// An array that the body uses.
struct body_array {
  std::string name;
  bool is_chain = false;
  clang::QualType element;
  std::vector<std::int64_t> inner;  ///< extents behind the first, where the type has them
  std::vector<array_access> accesses;
};

/// A number of the program that the body reads.
struct body_scalar {
  std::string name;
  clang::QualType type;
  bool captured = true;    ///< false: a constant, which needs no capture
  bool is_global = false;  ///< of the file or static: it is captured by a name of its own
  bool is_table = false;   ///< a small constant array, which is captured whole
};

/// A reduction that the directive names.
struct body_reduction {
  std::string name, operation;
  const clang::VarDecl* variable = nullptr;
};

/// All of it, in the order of the text.
struct body_facts {
  std::vector<body_array> arrays;
  std::vector<body_scalar> scalars;
  std::set<const clang::VarDecl*> locals;             ///< declared in the body
  std::vector<const clang::ContinueStmt*> continues;  ///< those that end an iteration
};

/// Reads the body of a loop. Reports what would race, and what cannot be taken to where a region runs.
body_facts read_body(const canonical_loop& loop, const std::vector<body_reduction>& reductions,
                     const chain_names& chains, clang::ASTContext& context, const source& text, report& messages);

}  // namespace tessera::directive
