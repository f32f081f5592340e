#include <fmt/format.h>

#include "languages/sial/language/check/environment.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

const char* name_of(value_type t) { return t == value_type::integer ? "an int" : "a scalar"; }
const char* cast_to(value_type t) { return t == value_type::integer ? "(int)" : "(scalar)"; }

expression made(const syntax::expression& from, operation what, value_type type) {
  expression e;
  e.where = at(from), e.kind = what, e.type = type;
  return e;
}

expression variable(environment& in, const syntax::expression& e) {
  const entity& found = in.names.find(e.id);
  expression v = made(e, operation::int_variable, value_type::integer);
  v.variable = found.number;
  switch (found.kind) {
    case entity_kind::integer:
      return v;
    case entity_kind::index:
      v.kind = operation::index_variable;
      bound_index(in, e.id);
      return v;
    case entity_kind::scalar:
      v.kind = operation::scalar_variable, v.type = value_type::scalar;
      return v;
    case entity_kind::array:
      in.out.arrays[found.number].used = true;
      in.fail(e.where, fmt::format("'{}' is an array, not a number", e.id.text),
              "a block of it is written with subscripts: a[i,j]");
    default:
      in.fail(e.where, fmt::format("'{}' is {}, not a number", e.id.text, with_article(found.kind)));
  }
}

expression cast(environment& in, const syntax::expression& e) {
  expression of = check_number(in, e.operands[0]);
  const bool to_int = e.kind == form::cast_int;
  if (e.kind == form::cast_index) {
    if (of.type != value_type::integer)
      in.fail(e.where, "(index) stands before an int, not a scalar", "write (index)(int)x");
    return of;
  }
  if (to_int && of.type == value_type::integer) {
    if (of.kind == operation::index_variable) return of;
    in.fail(e.where, "this is an int already", "leave '(int)' out");
  }
  if (!to_int && of.type == value_type::scalar) in.fail(e.where, "this is a scalar already", "leave '(scalar)' out");
  expression c =
      made(e, to_int ? operation::to_int : operation::to_scalar, to_int ? value_type::integer : value_type::scalar);
  c.operands.push_back(std::move(of));
  return c;
}

expression unary(environment& in, const syntax::expression& e) {
  const bool root = e.kind == form::square_root;
  expression of = check_number(in, e.operands[0]);
  if (root && of.type == value_type::integer)
    in.fail(e.where, "'sqrt' takes a scalar, not an int", "write sqrt (scalar)n");
  expression u = made(e, root ? operation::square_root : operation::negate, of.type);
  u.operands.push_back(std::move(of));
  return u;
}

expression joined(environment& in, const syntax::expression& e, expression left, expression right) {
  if (left.type != right.type)
    in.fail(e.where, fmt::format("'{}' between {} and {}", e.op, name_of(left.type), name_of(right.type)),
            "types are not converted: write (scalar)n or (int)x, and literals as 1 or 1.0");
  if (e.op == "**" && left.type == value_type::integer)
    in.fail(e.where, "'**' takes scalars, not ints", "write (scalar)n");
  const operation what = e.op == "+"   ? operation::add
                         : e.op == "-" ? operation::subtract
                         : e.op == "*" ? operation::multiply
                         : e.op == "/" ? operation::divide
                                       : operation::power;
  expression b = made(e, what, left.type);
  b.operands.push_back(std::move(left));
  b.operands.push_back(std::move(right));
  return b;
}

}  // namespace

symbol bound_index(environment& in, const syntax::name& n) {
  const symbol index = in.names.find(n, entity_kind::index);
  if (!in.is_bound(index))
    in.fail(n.where, fmt::format("index '{}' has no value here", n.text),
            fmt::format("a loop 'do {}' or 'pardo {}' around it gives it one", n.text, n.text));
  return index;
}

expression check_number(environment& in, const syntax::expression& e) {
  switch (e.kind) {
    case form::int_literal: {
      expression l = made(e, operation::int_literal, value_type::integer);
      l.i = e.i;
      return l;
    }
    case form::scalar_literal: {
      expression l = made(e, operation::scalar_literal, value_type::scalar);
      l.d = e.d;
      return l;
    }
    case form::variable:
      return variable(in, e);
    case form::block: {
      expression b = made(e, operation::simple_block, value_type::scalar);
      b.blocks.push_back(check_block(in, e));
      if (!all_simple(in.out, b.blocks[0]))
        in.fail(e.where, fmt::format("the block {} is not a number", to_text(in.out, b.blocks[0])),
                "a block is one when all its subscripts are simple indices ('index')");
      return b;
    }
    case form::region:
      in.fail(e.where, "a region is not a number");
    case form::star:
      in.fail(e.where, "'*' is not a number");
    case form::cast_int:
    case form::cast_scalar:
    case form::cast_index:
      return cast(in, e);
    case form::negate:
    case form::square_root:
      return unary(in, e);
    case form::binary:
      break;
  }
  if (e.op == "^")
    in.fail(e.where, "'^' stands between two blocks, alone on the right side of an assignment",
            "'**' is the power of scalars");
  if (e.op == "*" && is_block(e.operands[0]) && is_block(e.operands[1]) && holds_block(in, e))
    in.fail(e.where, "a contraction stands alone or in a sum: not in parentheses, products, relations or prints",
            "assign it to a scalar first");
  expression left = check_number(in, e.operands[0]);
  return joined(in, e, std::move(left), check_number(in, e.operands[1]));
}

expression check_number(environment& in, const syntax::expression& e, value_type type, const std::string& what) {
  expression found = check_number(in, e);
  if (found.type != type)
    in.fail(e.where, fmt::format("{} is {}, not {}", what, name_of(type), name_of(found.type)),
            fmt::format("write {}( ... )", cast_to(type)));
  return found;
}

expression check_contraction(environment& in, const syntax::expression& product) {
  expression c = made(product, operation::contraction, value_type::scalar);
  for (const syntax::expression& o : product.operands) c.blocks.push_back(check_block(in, o));
  for (std::size_t k = 0; k < 2; ++k)
    if (repeats(c.blocks[k]))
      in.fail(product.operands[k].where,
              fmt::format("a subscript stands twice in {}, which is contracted", to_text(in.out, c.blocks[k])));
  if (!permuted(c.blocks[0].subscripts, c.blocks[1].subscripts))
    in.fail(product.where,
            fmt::format("{} * {} is no number: subscripts {} are left", to_text(in.out, c.blocks[0]),
                        to_text(in.out, c.blocks[1]), to_text(in.out, free_subscripts(c.blocks[0], c.blocks[1]))),
            "assign it to a block of these subscripts");
  return c;
}

expression check_sum(environment& in, const syntax::expression& e) {
  if (e.kind != form::binary || e.in_parentheses || !holds_block(in, e)) return check_number(in, e);
  if (e.op == "+" || e.op == "-") {
    expression left = check_sum(in, e.operands[0]);
    return joined(in, e, std::move(left), check_sum(in, e.operands[1]));
  }
  if (e.op == "*" && is_block(e.operands[0]) && is_block(e.operands[1])) return check_contraction(in, e);
  if (e.op == "*") in.fail(e.where, "a contraction is multiplied no further", "assign it to a scalar first");
  return check_number(in, e);
}

relation check_relation(environment& in, const syntax::relation& r) {
  relation c;
  c.where = r.where.where;
  c.kind = r.op == "<"    ? relation_kind::less
           : r.op == "<=" ? relation_kind::less_equal
           : r.op == ">"  ? relation_kind::greater
           : r.op == ">=" ? relation_kind::greater_equal
           : r.op == "==" ? relation_kind::equal
                          : relation_kind::not_equal;
  c.left = check_number(in, r.left);
  c.right = check_number(in, r.right);
  if (c.left.type != c.right.type)
    in.fail(r.where, fmt::format("'{}' compares {} with {}", r.op, name_of(c.left.type), name_of(c.right.type)),
            "write (scalar)n or (int)x");
  return c;
}

}  // namespace tessera::sial
