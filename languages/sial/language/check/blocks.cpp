// References to blocks and regions.
#include <fmt/format.h>

#include "languages/sial/language/check/environment.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

std::string word_of(index_kind k) {
  constexpr const char* words[] = {"aoindex", "moindex", "moaindex", "mobindex", "index", "laindex", "subindex"};
  return words[static_cast<std::size_t>(k)];
}

symbol array_of(environment& in, const syntax::expression& e, std::size_t dimensions) {
  const symbol array = in.names.find(e.id, entity_kind::array);
  array_declaration& a = in.out.arrays[array];
  a.used = true;
  if (dimensions != a.indices.size())
    in.fail(e.where, fmt::format("'{}' has {} dimension{}, not {}", a.name, a.indices.size(),
                                 a.indices.size() == 1 ? "" : "s", dimensions));
  return array;
}

// Whether an index may stand where `declared` was declared.
bool fits(const program& p, symbol index, symbol declared, bool pieces) {
  const index_declaration &i = p.indices[index], &d = p.indices[declared];
  if (i.kind != index_kind::sub) return i.kind == d.kind;
  const index_kind parent = p.indices[i.parent].kind;
  return d.kind == index_kind::sub ? parent == p.indices[d.parent].kind : pieces && parent == d.kind;
}

subscript check_subscript(environment& in, const syntax::expression& e, const array_declaration& a, std::size_t d,
                          bool pieces) {
  const symbol declared = a.indices[d];
  subscript s;
  if (e.kind == form::cast_index) {
    if (in.out.indices[declared].kind != index_kind::simple)
      in.fail(e.where, fmt::format("(index) is a simple index, but dimension {} of '{}' is {}", d + 1, a.name,
                                   word_of(in.out.indices[declared].kind)));
    s.value =
        std::make_shared<expression>(check_number(in, e.operands[0], value_type::integer, "the value of a subscript"));
    return s;
  }
  const entity& found = in.names.find(e.id);
  if (found.kind != entity_kind::index)
    in.fail(e.where, fmt::format("'{}' is {}, not an index", e.id.text, with_article(found.kind)),
            found.kind == entity_kind::integer ? fmt::format("write (index){}", e.id.text) : "");
  s.index = found.number;
  if (!fits(in.out, s.index, declared, pieces)) {
    const bool piece = fits(in.out, s.index, declared, true);
    in.fail(e.where,
            fmt::format("'{}' is {}, but dimension {} of '{}' is {}", e.id.text, word_of(in.out.indices[s.index].kind),
                        d + 1, a.name, word_of(in.out.indices[declared].kind)),
            piece ? "a piece of a block is only copied: b[ii,j] = a[ii,j] and back" : "");
  }
  bound_index(in, e.id);
  return s;
}

}  // namespace

block_reference check_block(environment& in, const syntax::expression& e, bool pieces) {
  block_reference b;
  b.where = at(e);
  b.array = array_of(in, e, e.operands.size());
  const array_declaration& a = in.out.arrays[b.array];
  if (a.kind == array_kind::contiguous_local)
    in.fail(e.where, fmt::format("'{}' is a contiguous local array: it has regions, no blocks", a.name),
            "every dimension needs low:high");
  for (std::size_t d = 0; d < e.operands.size(); ++d)
    b.subscripts.push_back(check_subscript(in, e.operands[d], a, d, pieces));
  return b;
}

region_reference check_region(environment& in, const syntax::expression& e) {
  region_reference r;
  r.where = at(e);
  r.array = array_of(in, e, e.operands.size() / 2);
  if (in.out.arrays[r.array].kind != array_kind::contiguous_local)
    in.fail(e.where, fmt::format("'{}' has no regions; contiguous local arrays have", e.id.text),
            "a block has one index per dimension");
  for (std::size_t d = 0; d + 1 < e.operands.size(); d += 2) {
    expression low = check_number(in, e.operands[d], value_type::integer, "a bound of a region");
    r.ranges.emplace_back(std::move(low),
                          check_number(in, e.operands[d + 1], value_type::integer, "a bound of a region"));
  }
  return r;
}

bool holds_block(environment& in, const syntax::expression& e) {
  if (e.kind == form::region) return true;
  if (!is_block(e))
    return std::ranges::any_of(e.operands, [&](const syntax::expression& o) { return holds_block(in, o); });
  // What casts hold is looked at elsewhere, once: nested blocks would be, at every level, again.
  return !std::ranges::all_of(e.operands, [&](const syntax::expression& s) {
    if (s.kind == form::cast_index) return true;
    const entity& found = in.names.find(s.id);
    return found.kind == entity_kind::index && in.out.indices[found.number].kind == index_kind::simple;
  });
}

assign assignment_of(const std::string& op) {
  return op == "=" ? assign::set : op == "+=" ? assign::add : op == "-=" ? assign::subtract : assign::multiply;
}

std::string to_text(assign how) {
  constexpr const char* words[] = {"=", "+=", "-=", "*="};
  return words[static_cast<std::size_t>(how)];
}

}  // namespace tessera::sial
