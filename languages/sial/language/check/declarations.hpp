#pragma once
#include "languages/sial/language/check/environment.hpp"

namespace tessera::sial {

/// Adds a declaration to the program's tables and the file's names; procedures are not its business. What is wrong is
/// said, and the name is unclear then.
void check_declaration(program& out, scope& names, message_list& messages, std::uint32_t file,
                       const syntax::declaration& d);

}  // namespace tessera::sial
