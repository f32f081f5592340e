#pragma once
// Loops whose heads are numbers: what is wrong with them is known before the program runs.
#include <string>

#include "languages/directives/clang/loop.hpp"

namespace tessera::directive {

/// Why a region cannot run the iterations of a loop, as tessera::directives::loop says it; empty: it can, or the
/// loop's head has variables.
std::string known_fault(const canonical_loop& loop, const clang::ASTContext& context);

}  // namespace tessera::directive
