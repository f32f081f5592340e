// execute and print.
#include <fmt/format.h>

#include "languages/sial/language/check/statements.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

void refuse_writing(environment& in, const syntax::expression& e, char intent, std::size_t number,
                    const std::string& what) {
  if (intent != 'r')
    in.fail(e.where, fmt::format("argument {} is written by the super instruction; {} cannot be", number, what),
            "pass a scalar");
}

execute_argument whole(environment& in, const syntax::expression& e, symbol array) {
  array_declaration& a = in.out.arrays[array];
  a.used = true;
  if (a.kind != array_kind::fixed && a.kind != array_kind::contiguous_local)
    in.fail(e.where, fmt::format("the whole array '{}' is no argument: it is {}", a.name, word_of(a.kind)),
            "pass a block of it; whole arrays are static");
  return whole_array{array};
}

execute_argument check_argument(environment& in, const syntax::expression& e, char intent, std::size_t number) {
  switch (e.kind) {
    case form::int_literal:
      refuse_writing(in, e, intent, number, "a literal");
      return literal_argument{static_cast<double>(e.i)};
    case form::scalar_literal:
      refuse_writing(in, e, intent, number, "a literal");
      return literal_argument{e.d};
    case form::block: {
      block_reference b = check_block(in, e);
      const array_kind kind = in.out.arrays[b.array].kind;
      if (intent != 'r' && (kind == array_kind::distributed || kind == array_kind::served))
        in.messages.warning(e.where,
                            fmt::format("argument {} is written, but '{}' is {}: the array itself does not change",
                                        number, in.out.arrays[b.array].name, word_of(kind)),
                            "pass a temp, then store it");
      return b;
    }
    case form::region:
      return check_region(in, e);
    default:
      break;
  }
  const entity& found = in.names.find(e.id);
  if (found.kind == entity_kind::scalar) return scalar_argument{found.number};
  if (found.kind == entity_kind::array) return whole(in, e, found.number);
  const bool whole_number = found.kind == entity_kind::integer || found.kind == entity_kind::index;
  in.fail(e.where, fmt::format("'{}' is {}, no argument", e.id.text, with_article(found.kind)),
          whole_number ? "assign it to a scalar, and pass that" : "");
}

}  // namespace

statement_form check_execute(environment& in, const syntax::statement& s) {
  execute_statement e;
  e.special = in.names.find(s.names[0], entity_kind::special);
  const std::string& signature = in.out.specials[e.special].signature;
  if (signature.size() != s.operands.size())
    in.fail(s.names[0].where,
            fmt::format("'{}' takes {} argument{}, not {}", in.out.specials[e.special].name, signature.size(),
                        signature.size() == 1 ? "" : "s", s.operands.size()),
            signature.empty() ? "" : fmt::format("its signature is '{}'", signature));
  for (std::size_t k = 0; k < signature.size(); ++k)
    e.arguments.push_back(check_argument(in, s.operands[k], signature[k], k + 1));
  return e;
}

statement_form check_print(environment& in, const syntax::statement& s) {
  using kind = print_statement::print_form;
  print_statement p;
  p.line = s.word == "println";
  if (s.has_text) {
    p.operand = s.text, p.form = kind::text;
    return p;
  }
  const syntax::expression& e = s.operands[0];
  if (e.kind == form::region) {
    p.operand = check_region(in, e), p.form = kind::region;
    return p;
  }
  if (is_block(e)) {
    block_reference b = check_block(in, e);
    if (!all_simple(in.out, b)) {
      p.operand = std::move(b), p.form = kind::block;
      return p;
    }
  } else if (e.kind == form::variable && !e.in_parentheses) {
    const entity& found = in.names.find(e.id);
    if (found.kind == entity_kind::array) {
      array_declaration& a = in.out.arrays[found.number];
      a.used = true;
      if (a.kind != array_kind::fixed)
        in.fail(e.where, fmt::format("the whole array '{}' is not printed: it is {}", a.name, word_of(a.kind)),
                a.kind == array_kind::contiguous_local ? "print a region: a[low:high]" : "print a block of it");
      p.operand = whole_array{found.number}, p.form = kind::whole;
      return p;
    }
    p.form = found.kind == entity_kind::scalar    ? kind::scalar_name
             : found.kind == entity_kind::integer ? kind::int_name
                                                  : kind::index_name;
    p.operand = check_number(in, e);
    return p;
  }
  expression value = check_number(in, e);
  p.form = value.type == value_type::integer ? kind::int_value : kind::scalar_value;
  p.operand = std::move(value);
  return p;
}

}  // namespace tessera::sial
