#pragma once
// What a loop's body can reach that is its own.
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <set>

#include "languages/directives/clang/locals.hpp"
#include "languages/directives/clang/loop.hpp"

namespace tessera::directive {

/// Places that no other iteration sees: variables that the body declares, their parts, and what pointers of the body
/// point to that get nothing else. What is not surely one is none.
class own_places {
 public:
  /// Both are kept by the caller.
  own_places(const local_variables& known, const canonical_loop& loop) : m_known(known), m_loop(loop) {}
  /// Whether it has this one; a value without a place is nobody else's.
  bool has(const clang::Expr* e) const;
  /// Whether a function knows no places but these.
  bool gives(const clang::CallExpr& call) const;

 private:
  bool has_target_of(const clang::Expr* pointer) const;
  /// Whether a pointer of the body gets nothing but these: nobody else changes it.
  bool has_all_targets_of(const clang::VarDecl& pointer) const;
  const local_variables& m_known;
  const canonical_loop& m_loop;
  mutable std::set<const clang::VarDecl*> m_assumed;  // pointers that are looked at
};

}  // namespace tessera::directive
