#include "languages/directives/clang/locals.hpp"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

#include "languages/directives/clang/loop.hpp"

namespace tessera::directive {
namespace {

/// A variable counts as changed where its name is more than a read of its value: then something may write it, now or
/// later, by a reference, a pointer or as the target of an assignment.
class local_reader {
 public:
  explicit local_reader(local_variables& to) : m_to(to) {}

  /// @param value  what stands there is read and nothing else
  void read(const clang::Stmt* s, bool value = false) {
    if (s == nullptr) return;
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(s)) {
      if (!value) change(name->getDecl());
      return;
    }
    if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(s))
      for (const clang::Decl* d : declaration->decls()) declare(llvm::dyn_cast<clang::VarDecl>(d));
    if (const auto* handler = llvm::dyn_cast<clang::CXXCatchStmt>(s)) declare(handler->getExceptionDecl());
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(s)) {
      if (const auto canonical = read_loop(*loop, [](auto&&...) {})) {  // its own step does not count
        m_to.counted.insert(canonical->index);
        read(loop->getInit());
        read(canonical->bound);
        read(canonical->step);
        return read(loop->getBody());
      }
    }
    if (const auto* e = llvm::dyn_cast<clang::Expr>(s)) {
      if (const auto* held = llvm::dyn_cast<clang::OpaqueValueExpr>(e)) return read(held->getSourceExpr());
      if (const clang::Expr* of = read_by(*e)) return read(of, true);
      if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
        read(choice->getCond());
        read(choice->getTrueExpr(), value);
        return read(choice->getFalseExpr(), value);
      }
      if (const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e); both != nullptr && both->isCommaOp()) {
        read(both->getLHS(), true);
        return read(both->getRHS(), value);
      }
      if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(e); made != nullptr && copies_arguments(*made)) {
        for (const clang::Expr* argument : made->arguments()) read(argument, true);
        return;
      }
      const auto* member = llvm::dyn_cast<clang::MemberExpr>(e);
      value = value && (llvm::isa<clang::ParenExpr, clang::FullExpr, clang::MaterializeTemporaryExpr>(e) ||
                        (member != nullptr && !member->isArrow()));
    } else {
      value = false;
    }
    for (const clang::Stmt* child : s->children()) read(child, value);
  }

 private:
  void declare(const clang::VarDecl* v) {
    if (v != nullptr && v->hasLocalStorage()) m_to.locals.insert(v);
  }
  /// What a reference is for has changed where the reference begins.
  void change(const clang::ValueDecl* d) {
    if (const auto* part = llvm::dyn_cast<clang::BindingDecl>(d)) d = part->getDecomposedDecl();
    if (const auto* v = llvm::dyn_cast_or_null<clang::VarDecl>(d)) m_to.changed.insert(v);
  }
  local_variables& m_to;
};

}  // namespace

local_variables read_locals(const clang::Stmt& body) {
  local_variables found;
  local_reader(found).read(&body);
  return found;
}

bool is_write(const clang::Stmt* s) {
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(s);
  return binary != nullptr && binary->isAssignmentOp();
}

const clang::Expr* read_by(const clang::Expr& e) {
  const auto* cast = llvm::dyn_cast<clang::CastExpr>(&e);
  if (cast == nullptr) return nullptr;
  if (cast->getCastKind() == clang::CK_LValueToRValue || cast->getCastKind() == clang::CK_ToVoid)
    return cast->getSubExpr();
  const bool constant = llvm::isa<clang::ImplicitCastExpr>(cast) && cast->isGLValue() &&
                        cast->getType().isConstQualified() && !cast->getType()->isArrayType();
  return constant ? cast->getSubExpr() : nullptr;
}

bool copies_arguments(const clang::CXXConstructExpr& made) {
  const auto* type = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(made.getConstructor()->getParent());
  if (type == nullptr || !type->isInStdNamespace() || (type->getName() != "pair" && type->getName() != "tuple"))
    return false;
  const auto is_value = [](const clang::TemplateArgument& a) {
    return a.getKind() == clang::TemplateArgument::Type && !a.getAsType()->isReferenceType();
  };
  return std::ranges::all_of(type->getTemplateArgs().asArray(), [&](const clang::TemplateArgument& a) {
    return a.getKind() == clang::TemplateArgument::Pack ? std::ranges::all_of(a.pack_elements(), is_value)
                                                        : is_value(a);
  });
}

const clang::Expr* target_of(const clang::Stmt* s) {
  if (is_write(s)) return llvm::cast<clang::BinaryOperator>(s)->getLHS();
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(s);
  return unary != nullptr && unary->isIncrementDecrementOp() ? unary->getSubExpr() : nullptr;
}

bool discards(const clang::Stmt& s, const clang::Stmt* part) {
  if (llvm::isa<clang::CompoundStmt, clang::SwitchCase, clang::AttributedStmt>(s)) {
    const auto* one = llvm::dyn_cast<clang::CaseStmt>(&s);
    return one == nullptr || part == one->getSubStmt();
  }
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(&s))
    return part == loop->getBody() || part == loop->getInc() || part == loop->getInit();
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(&s))
    return part == branch->getThen() || part == branch->getElse();
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(&s)) return part == loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(&s)) return part == loop->getBody();
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(&s))
    return part == loop->getBody() || part == loop->getInc();
  return false;
}

}  // namespace tessera::directive
