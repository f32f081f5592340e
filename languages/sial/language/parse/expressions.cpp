#include "languages/sial/language/parse/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::sial {
namespace {

using syntax::form;

bool is_relation(const token& t) {
  return t.kind == token_kind::mark &&
         (t.text == "<" || t.text == "<=" || t.text == ">" || t.text == ">=" || t.text == "==" || t.text == "!=");
}

void own(cursor& at, syntax::expression& parent, syntax::expression child) {
  parent.depth = std::max(parent.depth, child.depth + 1);
  if (parent.depth > max_expression_depth)
    at.fail(parent.where, "this expression is too long",
            fmt::format("split it: at most {} operators in a row", max_expression_depth));
  parent.operands.push_back(std::move(child));
}

syntax::expression made(form what, const token& t) {
  syntax::expression e;
  e.kind = what, e.where = t;
  return e;
}

syntax::expression parse_sum(cursor& at, std::uint32_t nesting);

syntax::expression parse_unary(cursor& at, std::uint32_t nesting) {
  const token& t = at.here();
  if (t.is("+")) at.fail(t, "there is no sign '+'");
  if (!t.is("-") && !t.is("sqrt")) return parse_primary(at, nesting);
  syntax::expression e = made(t.is("-") ? form::negate : form::square_root, at.take());
  if (at.here().is("-") || at.here().is("sqrt"))
    at.fail(at.here(), fmt::format("'{}' cannot follow '{}'", at.here().text, t.text),
            "put what follows into parentheses");
  own(at, e, parse_primary(at, nesting));
  return e;
}

syntax::expression parse_binary(cursor& at, std::uint32_t nesting, std::initializer_list<std::string_view> operators,
                                syntax::expression (*operand)(cursor&, std::uint32_t)) {
  syntax::expression left = operand(at, nesting);
  while (std::ranges::any_of(operators, [&](std::string_view o) { return at.here().is(o); })) {
    syntax::expression e = made(form::binary, at.here());
    e.op = at.take().text;
    own(at, e, std::move(left));
    own(at, e, operand(at, nesting));
    left = std::move(e);
  }
  return left;
}

syntax::expression parse_power(cursor& at, std::uint32_t nesting) {
  return parse_binary(at, nesting, {"**"}, parse_unary);
}
syntax::expression parse_product(cursor& at, std::uint32_t nesting) {
  return parse_binary(at, nesting, {"*", "/", "^"}, parse_power);
}
syntax::expression parse_sum(cursor& at, std::uint32_t nesting) {
  return parse_binary(at, nesting, {"+", "-"}, parse_product);
}

// "(" stands behind the cursor.
syntax::expression parse_parenthesis(cursor& at, const token& open, std::uint32_t nesting) {
  if (nesting >= max_parenthesis_depth)
    at.fail(open, "parentheses nest too deeply", fmt::format("at most {} levels", max_parenthesis_depth));
  for (const auto& [word, what] :
       {std::pair{"int", form::cast_int}, {"scalar", form::cast_scalar}, {"index", form::cast_index}}) {
    if (!at.here().is(word)) continue;
    syntax::expression e = made(what, open);
    at.take();
    at.expect(")", fmt::format("after '({}'", word));
    own(at, e, at.here().is("-") ? parse_unary(at, nesting + 1) : parse_primary(at, nesting + 1));
    return e;
  }
  syntax::expression e = parse_sum(at, nesting + 1);
  if (is_relation(at.here()))
    at.fail(at.here(), "a relation stands in no parentheses",
            "relations are those of 'if' and 'where'; nest 'if' statements for 'and'");
  at.expect(")", "to match '('");
  e.in_parentheses = true;
  return e;
}

void check_subscripts(cursor& at, const syntax::expression& block) {
  for (const syntax::expression& s : block.operands) {
    if (s.kind == form::star || (!s.in_parentheses && (s.kind == form::variable || s.kind == form::cast_index)))
      continue;
    at.fail(s.where, "a subscript is an index, or (index) before an int",
            s.kind == form::int_literal ? fmt::format("write (index){}", s.i) : "write (index)( ... )");
  }
}

}  // namespace

syntax::expression parse_expression(cursor& at) { return parse_sum(at, 0); }

syntax::expression parse_primary(cursor& at, std::uint32_t nesting) {
  const token& t = at.here();
  switch (t.kind) {
    case token_kind::int_literal: {
      syntax::expression e = made(form::int_literal, at.take());
      e.i = t.i;
      return e;
    }
    case token_kind::scalar_literal: {
      syntax::expression e = made(form::scalar_literal, at.take());
      e.d = t.d;
      return e;
    }
    case token_kind::identifier:
      return parse_reference(at, false, nesting);
    case token_kind::text:
      at.fail(t, "a text is only printed");
    default:
      break;
  }
  if (t.is("(")) return parse_parenthesis(at, at.take(), nesting);
  at.expected("a number, a name or '('");
}

syntax::expression parse_reference(cursor& at, bool stars, std::uint32_t nesting) {
  syntax::expression e = made(form::variable, at.here());
  e.id = at.name("a name");
  if (!at.here().is("[")) return e;
  const token& open = at.take();
  if (nesting >= max_parenthesis_depth)
    at.fail(open, "brackets nest too deeply", fmt::format("at most {} levels", max_parenthesis_depth));
  e.kind = form::block;
  if (at.here().is("]"))
    at.fail(at.here(), fmt::format("'{}' has no subscripts here", e.id.text),
            "leave the brackets out to name the whole array");
  for (std::size_t count = 0;; ++count) {
    if (stars && at.here().is("*")) {
      own(at, e, made(form::star, at.take()));
    } else {
      own(at, e, parse_sum(at, nesting + 1));
    }
    const bool range = at.here().is(":");
    if (count > 0 && range != (e.kind == form::region))
      at.fail(at.here(), "all subscripts are ranges 'low:high', or none is", "a range of one segment is 'i:i'");
    if (range) {
      e.kind = form::region;
      at.take();
      own(at, e, parse_sum(at, nesting + 1));
    }
    if (!at.accept(",")) break;
  }
  at.expect("]", "or ',' between subscripts");
  if (e.kind == form::block) check_subscripts(at, e);
  if (e.kind == form::region)
    for (const syntax::expression& bound : e.operands)
      if (bound.kind == form::star) at.fail(bound.where, "'*' is no bound of a range");
  return e;
}

syntax::relation parse_relation(cursor& at) {
  syntax::relation r;
  r.left = parse_expression(at);
  if (!is_relation(at.here())) at.expected("a relation: < <= > >= == !=", at.here().is("=") ? "'==' compares" : "");
  r.where = at.here();
  r.op = at.take().text;
  r.right = parse_expression(at);
  if (is_relation(at.here())) at.fail(at.here(), "relations do not chain", "write one relation a line");
  return r;
}

}  // namespace tessera::sial
