#pragma once
#include "languages/sial/language/parse/cursor.hpp"

namespace tessera::sial {

/// term { ("+" | "-") term }
syntax::expression parse_expression(cursor& at);
/// Without operators: what stands behind a unary one, and arguments.
syntax::expression parse_primary(cursor& at, std::uint32_t nesting = 0);
/// A name with [ ... ] behind it, or alone. With `stars`, * is a subscript.
syntax::expression parse_reference(cursor& at, bool stars = false, std::uint32_t nesting = 0);
/// expr relop expr
syntax::relation parse_relation(cursor& at);

}  // namespace tessera::sial
