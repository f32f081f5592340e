#pragma once
// Tokens to a syntax tree, by recursive descent.
#include "languages/sial/language/syntax.hpp"
#include "languages/sial/language/token.hpp"

namespace tessera::sial {

/// How deep statements and parentheses nest at most, and how many operators an expression chains.
inline constexpr std::uint32_t max_statement_depth = 100, max_parenthesis_depth = 100, max_expression_depth = 250;

/// The tree of one file. Goes on behind a mistake with the next line, or the end of the construct, so that one call
/// reports several; the tree then lacks what was not understood.
syntax::file parse(const std::vector<token>& tokens, std::uint32_t file, message_list& messages);

}  // namespace tessera::sial
