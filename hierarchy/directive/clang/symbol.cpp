#include "hierarchy/directive/clang/symbol.hpp"

#include "hierarchy/directive/clang/loop.hpp"

namespace tessera::directive {

symbol symbol_of(const clang::Expr* e, const chain_names& chains) {
  e = e->IgnoreParenImpCasts();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) {
    const auto chain = chains.find(member);
    return chain == chains.end() ? symbol{}
                                 : symbol{chain->second.name, member->getType(), nullptr, chain->second.elements};
  }
  const clang::VarDecl* const v = variable_of(e);
  return v == nullptr ? symbol{} : symbol{v->getNameAsString(), v->getType(), v};
}

}  // namespace tessera::directive
