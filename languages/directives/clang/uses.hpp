#pragma once
// The arrays and numbers of the program that the body of a loop uses.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "languages/directives/clang/symbol.hpp"
#include "languages/directives/text/reach.hpp"

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
  std::string written;  ///< as of symbol
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
  bool captured = true;      ///< false: a constant, which needs no capture
  bool is_global = false;    ///< of the file or static: it is captured by a name of its own
  bool is_table = false;     ///< a small constant array, which is captured whole
  std::string written = {};  ///< as of symbol
};

/// Writes down what a body uses, in the order of the text.
class body_uses {
 public:
  /// `collapsed`: the indices of the region's loops. The caller keeps the context.
  body_uses(const clang::ASTContext& context, std::vector<std::string> collapsed)
      : m_context(context), m_collapsed(std::move(collapsed)) {}

  /// Whether it is a constant array that is small enough for a body to take it along.
  bool is_table(const symbol& s) const;
  /// A number, or a table, that the body reads.
  void add_scalar(const symbol& s, bool table);
  /// The array of that name, without accesses at its first use.
  body_array& array_of(const symbol& s);
  /// An access of an array: all but its reach, its place and what it sees is known. `names`: those in its subscripts.
  void add_access(body_array& array, array_access made, const subscript_names& names);
  bool writes(const std::string& array) const;  ///< so far
  /// Whether the body has something else for a variable: a view of an array, a copy of a number, a part of a result.
  bool stands_for(const clang::VarDecl& v) const;

  const std::vector<body_scalar>& scalars() const noexcept { return m_scalars; }
  /// All arrays that are accessed. `always`: false where some iterations end early.
  std::vector<body_array> arrays(bool always) const;

 private:
  const clang::ASTContext& m_context;
  const std::vector<std::string> m_collapsed;
  std::vector<body_array> m_arrays;
  std::vector<body_scalar> m_scalars;
};

}  // namespace tessera::directive
