// Assignments to ints, scalars and regions.
#include <fmt/format.h>

#include "languages/sial/language/check/statements.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

statement_form to_variable(environment& in, const syntax::statement& s) {
  const syntax::expression &to = s.operands[0], &value = s.operands[1];
  const assign how = assignment_of(s.op);
  const entity& found = in.names.find(to.id);
  if (found.kind == entity_kind::integer)
    return assign_int{
        found.number, how,
        check_number(in, value, value_type::integer, fmt::format("what is assigned to int '{}'", to.id.text))};
  if (found.kind == entity_kind::array) {
    in.out.arrays[found.number].used = true;
    in.fail(to.where, fmt::format("the whole array '{}' cannot be assigned to", to.id.text),
            "assign its blocks, in loops over its indices");
  }
  if (found.kind != entity_kind::scalar)
    in.fail(to.where, fmt::format("'{}' is {}: nothing can be assigned to it", to.id.text, with_article(found.kind)),
            found.kind == entity_kind::index ? "loops give indices their values" : "");
  expression sum = check_sum(in, value);
  if (sum.type != value_type::scalar)
    in.fail(value.where, fmt::format("what is assigned to scalar '{}' is a scalar, not an int", to.id.text),
            value.kind == form::int_literal ? fmt::format("write {}.0", value.i) : "write (scalar)( ... )");
  if (how == assign::multiply && holds_block(in, value))
    in.fail(s.op_where, "a contraction is assigned with = += or -=");
  return assign_scalar{found.number, how, std::move(sum)};
}

statement_form to_region(environment& in, const syntax::statement& s) {
  const syntax::expression& value = s.operands[1];
  region_reference to = check_region(in, s.operands[0]);
  if (s.op != "=")
    in.fail(s.op_where, fmt::format("a region is assigned with '=', not '{}'", s.op), "copy it into a block, and back");
  if (value.kind == form::region)
    in.fail(value.where, "a region is not copied to a region", "copy it to a block first");
  if (is_block(value)) {
    block_reference from = check_block(in, value);
    if (from.subscripts.size() == to.ranges.size()) return region_from_block{std::move(to), std::move(from)};
    if (!all_simple(in.out, from))
      in.fail(value.where, fmt::format("{} has {} dimensions, the region {}", to_text(in.out, from),
                                       from.subscripts.size(), to.ranges.size()));
  }
  return region_fill{std::move(to), check_number(in, value, value_type::scalar, "what fills a region")};
}

}  // namespace

statement_form check_assignment(environment& in, const syntax::statement& s) {
  switch (s.operands[0].kind) {
    case form::block:
      return check_block_assignment(in, s);
    case form::region:
      return to_region(in, s);
    default:
      return to_variable(in, s);
  }
}

}  // namespace tessera::sial
