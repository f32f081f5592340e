#pragma once
// What the body of a region's loop does with arrays and with the program's variables.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hierarchy/directive/clang/loop.hpp"
#include "hierarchy/directive/clang/reduction.hpp"
#include "hierarchy/directive/clang/report.hpp"
#include "hierarchy/directive/clang/source.hpp"
#include "hierarchy/directive/clang/symbol.hpp"
#include "hierarchy/directive/text/reach.hpp"

namespace tessera::directive {

/// One x[...] in the body.
struct array_access {
  const clang::Expr* where = nullptr;
  bool reads = false, writes = false;
  bool sees_before = false;  ///< it reads what was there before the iteration, or may
  bool always = false;       ///< in each iteration, and the loops around it count in steps of one
  row_reach reach;
  std::optional<std::string> place;             ///< as place_of; nothing: other iterations may meet it
  std::vector<polynomial> subscripts;           ///< as written
  std::vector<const clang::VarDecl*> in_loops;  ///< the indices of the canonical loops around it in the body
};

/// An array that the body uses.
struct body_array {
  std::string name;
  bool is_chain = false;
  std::string elements;  ///< as of chain_variable
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

/// All of it, in the order of the text.
struct body_facts {
  std::vector<body_array> arrays;
  std::vector<body_scalar> scalars;
  std::set<const clang::VarDecl*> locals;             ///< declared in the body
  std::vector<const clang::ContinueStmt*> continues;  ///< those that end an iteration
};

/// Reads the body of loops. Reports what would race, and what cannot be taken to where a region runs.
body_facts read_body(const loop_nest& nest, const std::vector<body_reduction>& reductions, const chain_names& chains,
                     clang::ASTContext& context, const source& text, report& messages);

}  // namespace tessera::directive
