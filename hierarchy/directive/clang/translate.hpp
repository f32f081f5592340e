#pragma once
// All directives of a file -> the translated file.
#include <clang/AST/ASTContext.h>

#include <string>
#include <vector>

#include "hierarchy/directive/clang/pragmas.hpp"
#include "hierarchy/directive/text/model.hpp"

namespace tessera::directive {

/// What the command tells of a loop.
struct translated_region {
  region_model model;
  unsigned line = 0;       ///< of the loop
  std::string host_alone;  ///< why no device runs it; empty: devices may
};

/// A translated file.
struct translation {
  std::string text;
  std::vector<translated_region> regions;
};

/// @param file  as the #line directives are to name it. What is wrong is reported; the translation means nothing then.
translation translate(const std::vector<found_directive>& directives, const std::string& file,
                      clang::ASTContext& context, report& messages);

}  // namespace tessera::directive
