// Statements that move and keep data.
#include <fmt/format.h>

#include "languages/sial/language/check/statements.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

// A block of an array that the statement's family is for.
block_reference remote_block(environment& in, const syntax::statement& s, array_kind kind, const char* other) {
  block_reference b = check_block(in, s.operands[0]);
  const array_declaration& a = in.out.arrays[b.array];
  if (a.kind == kind) return b;
  const bool is_remote = a.kind == array_kind::distributed || a.kind == array_kind::served;
  in.fail(s.operands[0].where,
          fmt::format("'{}' takes a block of a {} array; '{}' is {}", s.word, word_of(kind), a.name, word_of(a.kind)),
          is_remote ? fmt::format("write '{}'", other) : "");
}

void everywhere(environment& in, const syntax::statement& s) {
  if (in.in_pardo)
    in.messages.warning(s.where, fmt::format("'{}' is in a pardo, but every worker must reach it", s.word),
                        "move it behind the pardo");
}

}  // namespace

std::string word_of(array_kind k) {
  constexpr const char* words[] = {"static", "temp", "local", "contiguous local", "distributed", "served"};
  return words[static_cast<std::size_t>(k)];
}

statement_form check_fetch(environment& in, const syntax::statement& s) {
  const bool get = s.word == "get";
  return fetch_statement{
      remote_block(in, s, get ? array_kind::distributed : array_kind::served, get ? "request" : "get")};
}

statement_form check_store(environment& in, const syntax::statement& s) {
  const bool put = s.word == "put";
  const syntax::expression& value = s.operands[1];
  store_statement st;
  st.to = remote_block(in, s, put ? array_kind::distributed : array_kind::served, put ? "prepare" : "put");
  st.assignment = assignment_of(s.op);
  if (is_block(value)) {
    block_reference from = check_block(in, value);
    const bool number = all_simple(in.out, from), alike = fit_in_order(in.out, st.to.subscripts, from.subscripts);
    if (alike && st.assignment != assign::multiply) {
      st.from = std::move(from);
      return st;
    }
    if (!number && st.assignment == assign::multiply) in.fail(s.op_where, "'*=' takes a number, not a block");
    if (!number)
      in.fail(value.where, fmt::format("{} does not fit {}", to_text(in.out, from), to_text(in.out, st.to)),
              fmt::format("'{}' takes a block of the same subscripts in the same order", s.word));
  } else if (holds_block(in, value)) {
    in.fail(value.where, fmt::format("'{}' takes a block or a number, no arithmetic of blocks", s.word),
            "assign it to a temp first");
  }
  st.from = check_number(in, value, value_type::scalar, fmt::format("what '{}' stores", s.word));
  return st;
}

statement_form check_create(environment& in, const syntax::statement& s) {
  const symbol array = in.names.find(s.names[0], entity_kind::array);
  array_declaration& a = in.out.arrays[array];
  if (a.kind != array_kind::distributed && a.kind != array_kind::served)
    in.fail(s.names[0].where,
            fmt::format("'{}' takes a distributed or served array; '{}' is {}", s.word, a.name, word_of(a.kind)));
  a.used = true;
  if (s.word == "create") return create_statement{array};
  everywhere(in, s);
  const char* word = a.kind == array_kind::served ? "destroy" : "delete";
  if (s.word != word)
    in.messages.warning(s.where, fmt::format("'{}' is {}: the word for it is '{}'", a.name, word_of(a.kind), word));
  return delete_statement{array};
}

statement_form check_allocate(environment& in, const syntax::statement& s) {
  const bool release = s.word == "deallocate";
  const syntax::expression& what = s.operands[0];
  if (s.text == "contiguous") return allocate_region_statement{release, check_region(in, what)};
  allocate_statement a;
  a.release = release, a.where = at(what);
  a.array = in.names.find(what.id, entity_kind::array);
  array_declaration& d = in.out.arrays[a.array];
  d.used = true;
  if (d.kind != array_kind::local)
    in.fail(what.where, fmt::format("'{}' takes a local array; '{}' is {}", s.word, d.name, word_of(d.kind)),
            d.kind == array_kind::contiguous_local ? fmt::format("write '{} contiguous' and a region", s.word) : "");
  if (what.kind == form::variable) return a;
  if (what.operands.size() != d.indices.size())
    in.fail(what.where, fmt::format("'{}' has {} dimensions, not {}", d.name, d.indices.size(), what.operands.size()));
  for (std::size_t k = 0; k < what.operands.size(); ++k) {
    const syntax::expression& o = what.operands[k];
    if (o.kind == form::star) {
      a.subscripts.push_back(no_symbol);
      continue;
    }
    if (o.kind != form::variable) in.fail(o.where, fmt::format("'{}' takes indices and '*'", s.word));
    const symbol index = bound_index(in, o.id);
    if (in.out.indices[index].kind != in.out.indices[d.indices[k]].kind)
      in.fail(o.where, fmt::format("'{}' is no index of the kind of dimension {} of '{}'", o.id.text, k + 1, d.name));
    a.subscripts.push_back(index);
  }
  return a;
}

statement_form check_collective(environment& in, const syntax::statement& s) {
  everywhere(in, s);
  if (s.word == "broadcast_from") {
    expression from = check_number(in, s.operands[0], value_type::integer, "the number of a worker");
    const symbol array = in.names.find(s.names[0], entity_kind::array);
    array_declaration& a = in.out.arrays[array];
    if (a.kind != array_kind::fixed)
      in.fail(s.names[0].where,
              fmt::format("'broadcast_from' takes a static array; '{}' is {}", a.name, word_of(a.kind)));
    a.used = true;
    return broadcast_statement{std::move(from), array};
  }
  const symbol scalar = in.names.find(s.names[0], entity_kind::scalar);
  if (s.word == "assert_same") return assert_same_statement{scalar};
  return collective_statement{scalar, check_number(in, s.operands[0], value_type::scalar, "what 'collective' sums")};
}

statement_form check_persistent(environment& in, const syntax::statement& s) {
  everywhere(in, s);
  persistent_statement p;
  p.restore = s.word == "restore_persistent";
  p.label = s.text;
  const entity& found = in.names.find(s.names[0]);
  p.operand = found.number;
  p.is_scalar = found.kind == entity_kind::scalar;
  const auto refuse = [&](const std::string& what) {
    in.fail(s.names[0].where, fmt::format("'{}' takes a scalar or a static, distributed or served array; '{}' is {}",
                                          s.word, s.names[0].text, what));
  };
  if (p.is_scalar) {
    if (in.out.scalars[p.operand].predefined) refuse("predefined");
    return p;
  }
  if (found.kind != entity_kind::array) refuse(with_article(found.kind));
  array_declaration& a = in.out.arrays[p.operand];
  if (a.predefined) refuse("predefined");
  if (a.kind == array_kind::temp || a.kind == array_kind::local || a.kind == array_kind::contiguous_local)
    refuse(word_of(a.kind));
  a.used = true;
  return p;
}

statement_form check_gpu_transfer(environment& in, const syntax::statement& s) {
  using kind = gpu_transfer::transfer_kind;
  gpu_transfer t;
  t.kind = s.word == "gpu_allocate" ? kind::allocate
           : s.word == "gpu_free"   ? kind::free
           : s.word == "gpu_put"    ? kind::put
                                    : kind::get;
  if (is_block(s.operands[0])) {
    t.operand = check_block(in, s.operands[0]);
  } else {
    const symbol array = in.names.find(s.operands[0].id, entity_kind::array);
    in.out.arrays[array].used = true;
    t.operand = whole_array{array};
  }
  return t;
}

}  // namespace tessera::sial
