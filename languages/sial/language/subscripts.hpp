#pragma once
// Questions about subscripts of blocks.
#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// Whether two expressions are written alike.
bool same_expression(const expression& a, const expression& b);
/// Whether two subscripts are the same index, or casts of like expressions: what contractions and permutations go by.
bool same_subscript(const subscript& a, const subscript& b);
/// The kind of index that a subscript is; a cast is a simple one.
index_kind kind_of(const program& p, const subscript& s);
bool is_simple(const program& p, const subscript& s);
/// Whether the block is a single number.
bool all_simple(const program& p, const block_reference& b);
/// Whether a subscript is there twice.
bool repeats(const block_reference& b);
/// Same subscripts in the same order; a cast fits every simple subscript, both have extent 1.
bool fit_in_order(const program& p, const std::vector<subscript>& a, const std::vector<subscript>& b);
/// Same subscripts in any order, none twice.
bool permuted(const std::vector<subscript>& a, const std::vector<subscript>& b);
/// The subscripts that exactly one of the two has: those of their contraction.
std::vector<subscript> free_subscripts(const block_reference& a, const block_reference& b);
/// Whether a subindex stands in a dimension that has none: a piece of a block.
bool is_piece(const program& p, const block_reference& b);

/// As written: "a[i,(index)n]", "[i,j]".
std::string to_text(const program& p, const block_reference& b);
std::string to_text(const program& p, const std::vector<subscript>& list);
std::string to_text(const program& p, const expression& e);
std::string to_text(const program& p, const region_reference& r);

}  // namespace tessera::sial
