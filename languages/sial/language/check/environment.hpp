#pragma once
// What the checker of a statement knows about its surroundings.
#include <algorithm>
#include <vector>

#include "languages/sial/language/check/names.hpp"
#include "languages/sial/language/subscripts.hpp"

namespace tessera::sial {

struct environment {
  program& out;
  scope& names;
  message_list& messages;

  std::vector<symbol> bound = {};  ///< indices of the enclosing loops, outermost first
  bool any_index_bound =
      false;  ///< in a procedure the caller may have bound any; so behind a loop that is not understood
  bool in_pardo = false;
  std::uint32_t loops = 0;  ///< that enclose the statement

  [[noreturn]] void fail(span where, std::string what, std::string hint = {}) const {
    names.fail(where, std::move(what), std::move(hint));
  }
  bool is_bound(symbol index) const { return any_index_bound || std::ranges::find(bound, index) != bound.end(); }
};

/// The number of an index that has a value here.
symbol bound_index(environment& in, const syntax::name& n);

/// An expression of ints and scalars; blocks in it have simple subscripts only.
expression check_number(environment& in, const syntax::expression& e);
/// Of that type; `what` names it in messages ("the value of a scalar").
expression check_number(environment& in, const syntax::expression& e, value_type type, const std::string& what);
/// A number in which contractions of two blocks may stand, alone or in sums.
expression check_sum(environment& in, const syntax::expression& e);
relation check_relation(environment& in, const syntax::relation& r);

/// a[i,j]. With `pieces`, subindices may stand in dimensions of their parents' kind.
block_reference check_block(environment& in, const syntax::expression& e, bool pieces = false);
region_reference check_region(environment& in, const syntax::expression& e);
/// Whether it is written as a block: a[i,j].
inline bool is_block(const syntax::expression& e) { return e.kind == syntax::form::block; }
/// Whether it is a block that is no single number, or one is among its operands; not whether that block is right.
bool holds_block(environment& in, const syntax::expression& e);
/// x + l * r with sums over all subscripts.
expression check_contraction(environment& in, const syntax::expression& product);

/// = += -= *=
assign assignment_of(const std::string& op);
std::string to_text(assign how);
inline place at(const syntax::expression& e) { return e.where.where; }

}  // namespace tessera::sial
