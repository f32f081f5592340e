#pragma once
// Finds the directives of the main file while Clang reads it.
#include <clang/Lex/Preprocessor.h>

#include <vector>

#include "languages/directives/clang/report.hpp"
#include "languages/directives/clang/source.hpp"
#include "languages/directives/text/parse.hpp"

namespace tessera::directive {

/// A directive, and where it stands.
struct found_directive {
  directive what;
  extent where;             ///< from the # to the end of its last line
  std::size_t text_at = 0;  ///< where the text begins that positions in `what` count from
};

/// Has a preprocessor append the directives of the main file to `to`, and report what is wrong with their texts.
/// @param to, messages  must outlive the preprocessor
void find_directives(clang::Preprocessor& in, std::vector<found_directive>& to, report& messages);

}  // namespace tessera::directive
