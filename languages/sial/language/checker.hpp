#pragma once
// Syntax trees to a checked program.
#include "languages/sial/language/imports.hpp"
#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// Resolves names and types, and applies every rule of the language. The result is whole when no message is an error.
program check(const loaded_files& files, message_list& messages);

}  // namespace tessera::sial
