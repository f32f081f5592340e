#include "languages/directives/clang/symbol.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/Lex/Lexer.h>

#include "languages/directives/clang/loop.hpp"

namespace tessera::directive {

symbol symbol_of(const clang::Expr* e, const chain_names& chains) {
  e = e->IgnoreParenImpCasts();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) {
    const auto chain = chains.find(member);
    return chain == chains.end() ? symbol{}
                                 : symbol{chain->second.name, member->getType(), nullptr, chain->second.elements};
  }
  const clang::VarDecl* const v = variable_of(e);
  if (v == nullptr) return {};
  symbol found{v->getNameAsString(), v->getType(), v};
  if (llvm::cast<clang::DeclRefExpr>(e)->hasQualifier()) {
    const clang::ASTContext& context = v->getASTContext();
    const auto whole = clang::CharSourceRange::getTokenRange(e->getSourceRange());
    found.written = clang::Lexer::getSourceText(whole, context.getSourceManager(), context.getLangOpts()).str();
    if (found.written.empty()) found.written = "::" + v->getQualifiedNameAsString();
  }
  return found;
}

}  // namespace tessera::directive
