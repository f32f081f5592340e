#pragma once
// Pairs of statements that are one: "t = A * B" and "X += t", where no statement reads t afterwards.
#include <optional>
#include <set>

#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// The first statements of all pairs in a program: an assignment to a temp block by a product, a scaling or a copy,
/// directly followed by the addition of that block to another one or its subtraction, after which no path reads it
/// before it ends or is written anew. Cautious: where a procedure is involved, only if the whole program names the
/// array in one loop.
std::set<const statement*> find_accumulations(const program& p);

/// The one statement that a pair is: "X += A * B".
statement joined(const statement& first, const statement& second);

}  // namespace tessera::sial
