#pragma once
// One loop of a region -> what the emission writes.
#include <clang/AST/ASTContext.h>

#include <optional>
#include <string>
#include <vector>

#include "languages/directives/clang/body.hpp"
#include "languages/directives/clang/pragmas.hpp"
#include "languages/directives/clang/scopes.hpp"
#include "languages/directives/text/model.hpp"

namespace tessera::directive {

/// What the analysis of a loop needs to know of its surroundings.
struct region_surroundings {
  clang::ASTContext& context;
  const scopes& names;
  const chain_names& chains;
  std::string file;  ///< for the names of regions
};

/// A loop, or several that are collapsed, as a region, and what becomes of its body.
struct analysed_region {
  region_model model;
  const clang::Stmt* body = nullptr;                  ///< of the innermost loop
  std::vector<const clang::ContinueStmt*> continues;  ///< end an iteration: they return from the body
  std::string host_alone;                             ///< why no device runs it; empty: devices may
  std::vector<placed_text> without_step;              ///< names of reductions that it takes no part in
};

/// Reports what is refused; nothing then.
std::optional<analysed_region> analyse_region(const found_directive& region, const clang::ForStmt& loop,
                                              const region_surroundings& around, source& text, report& messages);

}  // namespace tessera::directive
