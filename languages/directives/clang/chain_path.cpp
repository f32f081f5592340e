#include "languages/directives/clang/chain_path.hpp"

#include <clang/AST/Decl.h>
#include <clang/AST/ExprCXX.h>
#include <fmt/format.h>

#include "languages/directives/clang/versions.hpp"

namespace tessera::directive {
namespace {

using clang::Expr;

class path_reader {
 public:
  path_reader(const clang::ASTContext& context, const source& text) : m_context(context), m_text(text) {}

  chain_path read(const clang::MemberExpr& last) {
    follow(last);
    return std::move(m_path);
  }

 private:
  void follow(const Expr& of) {
    const Expr& e = *of.IgnoreParenImpCasts();
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&e);
        member != nullptr && llvm::isa<clang::FieldDecl>(member->getMemberDecl()))
      return follow_member(*member);
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&e))
      return follow_element(e, *element->getBase(), *element->getIdx());
    if (const auto* pointed = llvm::dyn_cast<clang::UnaryOperator>(&e);
        pointed != nullptr && pointed->getOpcode() == clang::UO_Deref && is_path(*pointed->getSubExpr()))
      return follow(*pointed->getSubExpr());
    if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&e)) {
      if (call->getOperator() == clang::OO_Subscript && call->getNumArgs() == 2)
        return follow_element(e, *call->getArg(0), *call->getArg(1));
      if ((call->getOperator() == clang::OO_Arrow || call->getOperator() == clang::OO_Star) &&
          call->getNumArgs() == 1) {
        follow(*call->getArg(0));
        if (m_path.links.empty()) m_path.root = fmt::format("std::to_address({})", m_path.root);
        return;
      }
    }
    m_path.root = llvm::isa<clang::CXXThisExpr>(e) ? "this" : m_text.text_of(e);
  }

  /// Whether links may lead to it.
  static bool is_path(const Expr& of) {
    const Expr& e = *of.IgnoreParenImpCasts();
    return llvm::isa<clang::MemberExpr, clang::ArraySubscriptExpr, clang::DeclRefExpr, clang::CXXThisExpr>(e);
  }

  void follow_member(const clang::MemberExpr& member) {
    const auto* const field = llvm::cast<clang::FieldDecl>(member.getMemberDecl());
    const std::string name = field->getNameAsString();
    if (field->isBitField() || field->getType()->isReferenceType())
      throw no_chain{
          member.getMemberLoc(),
          fmt::format("'{}' is a {}, which no chain follows", name, field->isBitField() ? "bit-field" : "reference"),
          "name a chain that begins behind it, or copy it into a variable"};
    const clang::MemberExpr* of = &member;  // that of the type that has a name: members of unnamed unions are its own
    while (const auto* around = llvm::dyn_cast<clang::MemberExpr>(of->getBase()->IgnoreParenImpCasts())) {
      if (!around->getMemberDecl()->getDeclName().isEmpty()) break;
      of = around;
    }
    follow(*of->getBase());
    const auto* const owner = llvm::cast<clang::FieldDecl>(of->getMemberDecl())->getParent();
    m_path.links.push_back({false, fmt::format("&{}::{}", name_of(*owner, *of), name)});
  }
  /// A type as it is written; where it has no name, by the expression of that type.
  std::string name_of(const clang::RecordDecl& type, const clang::MemberExpr& of) const {
    if (type.getIdentifier() == nullptr && type.getTypedefNameForAnonDecl() == nullptr)
      return fmt::format("std::remove_cvref_t<decltype({}({}))>", of.isArrow() ? "*" : "",
                         m_text.text_of(*of.getBase()));
    clang::PrintingPolicy style(m_context.getLangOpts());
    style.SuppressTagKeyword = true;
    style.SuppressUnwrittenScope = true;
    return type_of(type, m_context).getAsString(style);
  }

  void follow_element(const Expr& all, const Expr& base, const Expr& index) {
    follow(base);
    // An array or a container of the program's own is no link: its element is where the chain begins.
    if (m_path.links.empty() && !base.IgnoreParenImpCasts()->getType().getNonReferenceType()->isPointerType())
      m_path.root = m_text.text_of(all);
    else
      m_path.links.push_back({true, m_text.text_of(index)});
  }

  const clang::ASTContext& m_context;
  const source& m_text;
  chain_path m_path;
};

}  // namespace

chain_path chain_path_of(const clang::MemberExpr& last, const clang::ASTContext& context, const source& text) {
  return path_reader(context, text).read(last);
}

}  // namespace tessera::directive
