#pragma once
#include "languages/sial/language/parse/cursor.hpp"

namespace tessera::sial {

/// Whether a declaration other than `proc` begins here.
bool begins_declaration(const cursor& at);

/// One line. After a failure `d` has what was understood before.
void parse_declaration(cursor& at, syntax::declaration& d);

}  // namespace tessera::sial
