#pragma once
// All directives of a file -> the translated file.
#include <clang/AST/ASTContext.h>

#include <functional>
#include <string>
#include <vector>

#include "languages/directives/clang/pragmas.hpp"
#include "languages/directives/text/model.hpp"

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

/// Whether a name is a macro at a position of the main file.
using macro_question = std::function<bool(const std::string& name, std::size_t at)>;

/// @param file  as the #line directives are to name it. What is wrong is reported; the translation means nothing then.
translation translate(const std::vector<found_directive>& directives, const std::string& file,
                      clang::ASTContext& context, const macro_question& is_macro, report& messages);

}  // namespace tessera::directive
