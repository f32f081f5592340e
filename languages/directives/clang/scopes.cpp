#include "languages/directives/clang/scopes.hpp"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <utility>

namespace tessera::directive {

class scope_reader : public clang::RecursiveASTVisitor<scope_reader> {
 public:
  scope_reader(scopes& to, const source& text) : m_to(to), m_text(text) {}

  bool TraverseFunctionDecl(clang::FunctionDecl* f) { return function(f, &scope_reader::base::TraverseFunctionDecl); }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* f) {
    return function(f, &scope_reader::base::TraverseCXXMethodDecl);
  }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl* f) {
    return function(f, &scope_reader::base::TraverseCXXConstructorDecl);
  }
  bool TraverseCXXDestructorDecl(clang::CXXDestructorDecl* f) {
    return function(f, &scope_reader::base::TraverseCXXDestructorDecl);
  }
  bool TraverseCXXConversionDecl(clang::CXXConversionDecl* f) {
    return function(f, &scope_reader::base::TraverseCXXConversionDecl);
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* e) {  // one with `auto` among its parameters is a template
    const bool before = std::exchange(m_dependent, m_dependent || e->getCallOperator()->isDependentContext());
    const bool more = base::TraverseLambdaExpr(e);
    m_dependent = before;
    return more;
  }
  bool VisitCompoundStmt(clang::CompoundStmt* s) {
    if (const auto where = m_text.of(s->getSourceRange())) m_to.m_blocks.push_back({*where, s, m_dependent});
    return true;
  }
  bool VisitForStmt(clang::ForStmt* s) {
    if (const auto where = m_text.of(s->getSourceRange())) m_to.m_statements.push_back(*where);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl* v) {
    const std::size_t at = m_text.offset(v->getLocation());
    if (at != std::string_view::npos) m_to.m_variables.push_back({v, {at, m_text.text().size()}});
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* m) {
    if (const auto where = m_text.of(m->getSourceRange())) m_to.m_members.emplace_back(*where, m);
    return true;
  }

 private:
  using base = clang::RecursiveASTVisitor<scope_reader>;
  template <class Function>
  bool function(Function* f, bool (base::*traverse)(Function*)) {
    if (const auto where = m_text.of(f->getSourceRange())) m_to.m_statements.push_back(*where);
    const bool before = m_dependent;
    m_dependent = f->isDependentContext();
    const bool more = (this->*traverse)(f);
    m_dependent = before;
    return more;
  }
  scopes& m_to;
  const source& m_text;
  bool m_dependent = false;
};

scopes::scopes(clang::ASTContext& of, const source& text) : m_text(text) {
  scope_reader reader(*this, text);
  for (clang::Decl* d : of.getTranslationUnitDecl()->decls())
    if (text.offset(d->getLocation()) != std::string_view::npos) reader.TraverseDecl(d);
  // A variable is visible to the end of the smallest scope around it.
  for (visible& v : m_variables) {
    const auto narrow = [&](const extent& scope) {
      if (scope.holds(v.where.begin) && scope.end < v.where.end) v.where.end = scope.end;
    };
    for (const block& b : m_blocks) narrow(b.where);
    for (const extent& s : m_statements) narrow(s);
  }
  std::ranges::stable_sort(m_members, [](const auto& a, const auto& b) {
    return a.first.begin != b.first.begin ? a.first.begin < b.first.begin : a.first.end > b.first.end;
  });
}

const scopes::block* scopes::block_at(std::size_t at) const {
  const block* found = nullptr;
  for (const block& b : m_blocks)
    if (b.where.holds(at) && (found == nullptr || found->where.holds(b.where))) found = &b;
  return found;
}

const clang::VarDecl* scopes::variable(std::string_view name, std::size_t at) const {
  const visible* found = nullptr;
  for (const visible& v : m_variables)
    if (v.where.holds(at) && v.variable->getName() == llvm::StringRef(name) &&
        (found == nullptr || found->where.begin < v.where.begin))
      found = &v;
  return found == nullptr ? nullptr : found->variable;
}

std::vector<const clang::MemberExpr*> scopes::members(const extent& in) const {
  std::vector<const clang::MemberExpr*> found;
  for (const auto& [where, member] : m_members)
    if (in.holds(where)) found.push_back(member);
  return found;
}

}  // namespace tessera::directive
