#include "languages/sial/language/parse/declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "languages/sial/language/program.hpp"

namespace tessera::sial {
namespace {

using syntax::declaration;
using syntax::declared;

constexpr std::array<std::string_view, 3> modifiers = {"predefined", "contiguous", "sparse"};
constexpr std::array<std::string_view, 5> arrays = {"static", "temp", "local", "distributed", "served"};
constexpr std::array<std::string_view, 6> indices = {"aoindex", "moindex", "moaindex", "mobindex", "index", "laindex"};

template <std::size_t N>
bool is_one_of(const token& t, const std::array<std::string_view, N>& words) {
  return t.kind == token_kind::keyword && std::ranges::find(words, t.text) != words.end();
}

void parse_value(cursor& at, declaration& d) {
  if (!at.accept("=")) return;
  const bool scalar = d.kind == declared::scalar;
  const token& t = at.here();
  if (t.is("-") || t.is("+")) at.fail(t, "an initial value has no sign", "assign the value in the first statement");
  if (t.kind != (scalar ? token_kind::scalar_literal : token_kind::int_literal))
    at.expected(scalar ? "a number with a decimal point" : "an integer", scalar && t.kind == token_kind::int_literal
                                                                             ? fmt::format("write {}.0", t.i)
                                                                             : "an initial value is a literal");
  d.has_value = true, d.i = t.i, d.d = t.d;
  at.take();
}

void parse_array(cursor& at, declaration& d) {
  at.expect("[", "after the name of the array");
  do d.indices.push_back(at.name("an index"));
  while (at.accept(","));
  at.expect("]", "or ',' after an index");
  if (d.indices.size() > max_array_rank)
    at.fail(d.indices[max_array_rank].where,
            fmt::format("'{}' has {} dimensions; {} is the most", d.id.text, d.indices.size(), max_array_rank));
}

syntax::index_bound parse_bound(cursor& at, const declaration& d) {
  syntax::index_bound b;
  b.where = at.here();
  if (at.here().is("-")) {
    at.take();
    b.negative = true;
    if (d.word != "index" || at.here().kind != token_kind::int_literal)
      at.fail(b.where, d.word == "index" ? "a sign stands before an integer only" : "segment numbers begin at 1");
  }
  if (at.here().kind == token_kind::int_literal) {
    b.value = b.negative ? -at.here().i : at.here().i;
    at.take();
  } else {
    b.constant = at.name("an integer or a predefined int");
  }
  return b;
}

void parse_index(cursor& at, declaration& d) {
  at.expect("=", "and a range after the name of the index");
  d.low = parse_bound(at, d);
  if (!at.here().is(":"))
    at.expected("':' between the bounds", "a bound is an integer or a predefined int, no expression");
  at.take();
  d.high = parse_bound(at, d);
}

}  // namespace

bool begins_declaration(const cursor& at) {
  const token& t = at.here();
  return is_one_of(t, modifiers) || is_one_of(t, arrays) || is_one_of(t, indices) || t.is("scalar") || t.is("int") ||
         t.is("subindex") || t.is("special");
}

void parse_declaration(cursor& at, declaration& d) {
  d.where = at.here();
  while (is_one_of(at.here(), modifiers)) {
    const std::string word = at.take().text;
    (word == "predefined" ? d.predefined : word == "contiguous" ? d.contiguous : d.sparse) = true;
  }
  const bool modified = d.predefined || d.contiguous || d.sparse;
  const token& kind = at.here();
  const bool array = is_one_of(kind, arrays);
  if (!array && !kind.is("scalar") && !kind.is("int") && (modified || !begins_declaration(at)))
    at.expected("scalar, int, static, temp, local, distributed or served",
                "'predefined', 'contiguous' and 'sparse' stand before these");
  d.word = at.take().text;
  d.id = at.new_name(fmt::format("a name for the {}", d.word));
  if (array) {
    d.kind = declared::array;
    parse_array(at, d);
  } else if (d.word == "scalar" || d.word == "int") {
    d.kind = d.word == "int" ? declared::integer : declared::scalar;
    parse_value(at, d);
  } else if (d.word == "subindex") {
    d.kind = declared::subindex;
    at.expect("of", "and an index after the name of the subindex");
    d.parent = at.name("an index");
  } else if (d.word == "special") {
    d.kind = declared::special;
    if (!at.at_line_end()) d.signature = at.new_name("a signature of the letters r, w and u");
  } else {
    d.kind = declared::index;
    parse_index(at, d);
  }
  if (at.here().is(",")) at.fail(at.here(), "one name is declared a line");
  at.end_of_line("this declaration");
}

}  // namespace tessera::sial
