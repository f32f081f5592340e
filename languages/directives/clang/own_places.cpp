#include "languages/directives/clang/own_places.hpp"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::directive {

using clang::Expr;
using clang::Stmt;
using clang::VarDecl;

bool own_places::has(const Expr* e) const {
  if (e == nullptr) return false;
  e = e->IgnoreParenImpCasts();
  if (!e->isGLValue() || llvm::isa<clang::MaterializeTemporaryExpr>(e)) return true;
  if (const VarDecl* v = variable_of(e)) {
    if (v == m_loop.index) return true;
    return m_known.locals.contains(v) && (!v->getType()->isReferenceType() || has(v->getInit()));
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (field == nullptr || field->getType()->isReferenceType()) return false;
    return member->isArrow() ? has_target_of(member->getBase()) : has(member->getBase());
  }
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) return has_target_of(subscript->getBase());
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e))
    return has(choice->getTrueExpr()) && has(choice->getFalseExpr());
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return gives(*call);
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e);
  return unary != nullptr && unary->getOpcode() == clang::UO_Deref && has_target_of(unary->getSubExpr());
}
bool own_places::has_target_of(const Expr* e) const {
  e = e->IgnoreParens();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    if (cast->getCastKind() == clang::CK_ArrayToPointerDecay) return has(cast->getSubExpr());
    if (cast->getCastKind() == clang::CK_IntegralToPointer) return false;
    if (cast->getCastKind() == clang::CK_NullToPointer) return true;
    return has_target_of(cast->getSubExpr());
  }
  if (llvm::isa<clang::CXXNewExpr>(e)) return llvm::cast<clang::CXXNewExpr>(e)->getNumPlacementArgs() == 0;
  if (const VarDecl* v = variable_of(e)) return has_all_targets_of(*v);
  if (const Expr* target = target_of(e)) return has_target_of(target);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e))
    return has_target_of(choice->getTrueExpr()) && has_target_of(choice->getFalseExpr());
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e))
    return unary->getOpcode() == clang::UO_AddrOf && has(unary->getSubExpr());
  const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(e);
  return sum != nullptr && sum->isAdditiveOp() &&
         has_target_of(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS());
}

bool own_places::has_all_targets_of(const VarDecl& v) const {
  if (!m_known.locals.contains(&v) || !v.getType()->isPointerType()) return false;
  if (!m_assumed.insert(&v).second) return true;  // p = p + 1
  bool own = v.getInit() == nullptr || has_target_of(v.getInit());
  std::int64_t unknown = 0;  // uses of its name, and of assignments to it, that are neither reads nor at an end
  const auto names = [&](const Expr* e) {
    const auto* name = e == nullptr ? nullptr : llvm::dyn_cast<clang::DeclRefExpr>(e->IgnoreParens());
    return name != nullptr && name->getDecl() == &v;
  };
  each(m_loop.statement, [&](const Stmt& s) {
    const Expr* const target = target_of(&s);
    const auto* const e = llvm::dyn_cast<Expr>(&s);
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(&s)) unknown += names(name) ? 1 : 0;
    if (names(target)) unknown += e->isGLValue() ? 0 : -1;  // one name less, one assignment more
    if (e != nullptr && names(read_by(*e))) --unknown;
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(&s);
        names(target) && binary != nullptr && !binary->isCompoundAssignmentOp())
      own = own && has_target_of(binary->getRHS());
    for (const Stmt* child : s.children()) {
      const auto* part = llvm::dyn_cast_or_null<Expr>(child);
      if (part == nullptr || !(discards(s, child) || (e != nullptr && read_by(*e) == part))) continue;
      if (const auto* full = llvm::dyn_cast<clang::FullExpr>(part)) part = full->getSubExpr();
      if (part->isGLValue() && names(target_of(part->IgnoreParens()))) --unknown;
    }
  });
  m_assumed.erase(&v);
  return own && unknown == 0;
}
bool own_places::gives(const clang::CallExpr& call) const {
  std::vector<const Expr*> places;  // that it knows
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call))
    places.push_back(member->getImplicitObjectArgument());
  for (const Expr* argument : call.arguments())
    if (argument->isGLValue() || argument->getType()->isPointerType()) places.push_back(argument);
  const auto own = [&](const Expr* place) { return place->isGLValue() ? has(place) : has_target_of(place); };
  return !places.empty() && std::ranges::all_of(places, own);
}

}  // namespace tessera::directive
