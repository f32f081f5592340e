#include "languages/directives/clang/reduction.hpp"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <utility>

#include "languages/directives/clang/loop.hpp"

namespace tessera::directive {
namespace {

using clang::BinaryOperator;
using clang::Expr;

bool is(const Expr* e, const clang::VarDecl* v) { return v != nullptr && variable_of(e) == v; }

/// Of two operands the one that is not the variable; null: the variable is not among them.
const Expr* other(const Expr* a, const Expr* b, const clang::VarDecl* v) {
  if (is(a, v)) return b;
  return is(b, v) ? a : nullptr;
}

/// min or max of a < b ? ... and if (a < b) ...: the comparison chooses `chosen` when it is true.
std::string extreme(const BinaryOperator* test, const clang::VarDecl* v) {
  if (test == nullptr || !test->isRelationalOp()) return {};
  const bool less = test->getOpcode() == clang::BO_LT || test->getOpcode() == clang::BO_LE;
  if (is(test->getRHS(), v)) return less ? "min" : "max";  // e < v: e is kept
  if (is(test->getLHS(), v)) return less ? "max" : "min";
  return {};
}

const BinaryOperator* binary(const Expr* e) {
  return e == nullptr ? nullptr : llvm::dyn_cast<BinaryOperator>(e->IgnoreParenImpCasts());
}

/// The same expression, as written.
bool same(const Expr* a, const Expr* b) {
  const clang::Expr *p = a->IgnoreParenImpCasts(), *q = b->IgnoreParenImpCasts();
  if (p == q) return true;
  if (p->getStmtClass() != q->getStmtClass()) return false;
  if (const auto* v = variable_of(p)) return v == variable_of(q);
  auto left = p->child_begin(), right = q->child_begin();
  for (; left != p->child_end() && right != q->child_end(); ++left, ++right) {
    const auto *l = llvm::dyn_cast_or_null<Expr>(*left), *r = llvm::dyn_cast_or_null<Expr>(*right);
    if (l == nullptr || r == nullptr || !same(l, r)) return false;
  }
  if (const auto* l = llvm::dyn_cast<clang::IntegerLiteral>(p))
    return l->getValue() == llvm::cast<clang::IntegerLiteral>(q)->getValue();
  if (const auto* l = llvm::dyn_cast<clang::FloatingLiteral>(p))
    return l->getValueAsApproximateDouble() == llvm::cast<clang::FloatingLiteral>(q)->getValueAsApproximateDouble();
  if (const auto* l = llvm::dyn_cast<BinaryOperator>(p))
    return l->getOpcode() == llvm::cast<BinaryOperator>(q)->getOpcode();
  if (const auto* l = llvm::dyn_cast<clang::UnaryOperator>(p))
    return l->getOpcode() == llvm::cast<clang::UnaryOperator>(q)->getOpcode();
  if (const auto* l = llvm::dyn_cast<clang::MemberExpr>(p))
    return l->getMemberDecl() == llvm::cast<clang::MemberExpr>(q)->getMemberDecl();
  return llvm::isa<clang::ArraySubscriptExpr>(p) || llvm::isa<clang::CallExpr>(p);
}

/// Of other values, `&=` and `|=` join the bits.
bool is_truth(const Expr& e) { return e.IgnoreParenImpCasts()->getType()->isBooleanType(); }

reduction_step of_compound(const clang::CompoundAssignOperator& a) {
  reduction_step step{variable_of(a.getLHS()), {}, a.getRHS()};
  switch (a.getOpcode()) {
    case clang::BO_AddAssign:
    case clang::BO_SubAssign:
      step.operation = "+";
      return step;
    case clang::BO_MulAssign:
      step.operation = "*";
      return step;
    case clang::BO_AndAssign:
      step.operation = "&&";
      step.bits = true;
      return is_truth(*step.value) ? step : reduction_step{};
    case clang::BO_OrAssign:
      step.operation = "||";
      step.bits = true;
      return is_truth(*step.value) ? step : reduction_step{};
    default:
      return {};
  }
}

/// v = v + e, v = min(v, e), v = e < v ? e : v.
reduction_step of_assignment(const BinaryOperator& a) {
  const clang::VarDecl* const v = variable_of(a.getLHS());
  const Expr* const value = a.getRHS()->IgnoreParenImpCasts();
  if (const auto* sum = llvm::dyn_cast<BinaryOperator>(value)) {
    const Expr* const rest = other(sum->getLHS(), sum->getRHS(), v);
    if (rest == nullptr) return {};
    switch (sum->getOpcode()) {
      case clang::BO_Add:
        return {v, "+", rest};
      case clang::BO_Sub:
        return is(sum->getLHS(), v) ? reduction_step{v, "+", rest} : reduction_step{};
      case clang::BO_Mul:
        return {v, "*", rest};
      case clang::BO_LAnd:
        return {v, "&&", rest};
      case clang::BO_LOr:
        return {v, "||", rest};
      default:
        return {};
    }
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(value)) {
    const std::string which = extreme(binary(choice->getCond()), v);
    const BinaryOperator* const test = binary(choice->getCond());
    const Expr* const rest = which.empty() ? nullptr : other(test->getLHS(), test->getRHS(), v);
    if (rest == nullptr) return {};
    const bool keeps = same(choice->getTrueExpr(), rest) && is(choice->getFalseExpr(), v);
    const bool turned = same(choice->getFalseExpr(), rest) && is(choice->getTrueExpr(), v);
    if (!keeps && !turned) return {};
    return {v, keeps ? which : which == "min" ? "max" : "min", rest};
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(value);
  if (call == nullptr || call->getNumArgs() != 2 || call->getDirectCallee() == nullptr) return {};
  const std::string name = call->getDirectCallee()->getNameAsString();
  const Expr* const rest = other(call->getArg(0), call->getArg(1), v);
  if (rest == nullptr) return {};
  if (name == "min" || name == "fmin" || name == "fminf") return {v, "min", rest};
  if (name == "max" || name == "fmax" || name == "fmaxf") return {v, "max", rest};
  return {};
}

}  // namespace

reduction_step reduction_step_of(const clang::Stmt* s) {
  if (const auto* e = llvm::dyn_cast<Expr>(s)) s = e->IgnoreParenImpCasts();
  if (const auto* a = llvm::dyn_cast<clang::CompoundAssignOperator>(s)) return of_compound(*a);
  if (const auto* a = llvm::dyn_cast<BinaryOperator>(s); a != nullptr && a->getOpcode() == clang::BO_Assign)
    return of_assignment(*a);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
    return {variable_of(u->getSubExpr()), "+", nullptr};
  const auto* choice = llvm::dyn_cast<clang::IfStmt>(s);
  if (choice == nullptr || choice->getElse() != nullptr) return {};
  const clang::Stmt* then = choice->getThen();
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(then))
    then = block->size() == 1 ? block->body_front() : then;
  const auto* a = llvm::dyn_cast<BinaryOperator>(then);
  if (a == nullptr || a->getOpcode() != clang::BO_Assign) return {};
  const clang::VarDecl* const v = variable_of(a->getLHS());
  const BinaryOperator* const test = binary(choice->getCond());
  const std::string which = extreme(test, v);
  if (which.empty()) return {};
  const Expr* const rest = other(test->getLHS(), test->getRHS(), v);
  return same(a->getRHS(), rest) ? reduction_step{v, which, rest} : reduction_step{};
}

const body_reduction* find_reduction(const std::vector<body_reduction>& among, const clang::VarDecl* v) {
  const auto found = std::ranges::find(among, v, &body_reduction::variable);
  return v == nullptr || found == among.end() ? nullptr : &*found;
}

}  // namespace tessera::directive
