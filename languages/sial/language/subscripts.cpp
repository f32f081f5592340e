#include "languages/sial/language/subscripts.hpp"

#include <algorithm>

namespace tessera::sial {
namespace {

bool same_block(const block_reference& a, const block_reference& b) {
  return a.array == b.array && std::ranges::equal(a.subscripts, b.subscripts, same_subscript);
}

bool has(const std::vector<subscript>& list, const subscript& s) {
  return std::ranges::any_of(list, [&](const subscript& other) { return same_subscript(s, other); });
}

bool has_twice(const std::vector<subscript>& list) {
  for (std::size_t k = 0; k < list.size(); ++k)
    for (std::size_t l = 0; l < k; ++l)
      if (same_subscript(list[k], list[l])) return true;
  return false;
}

}  // namespace

bool same_expression(const expression& a, const expression& b) {
  return a.kind == b.kind && a.type == b.type && a.i == b.i && a.d == b.d && a.variable == b.variable &&
         std::ranges::equal(a.operands, b.operands, same_expression) &&
         std::ranges::equal(a.blocks, b.blocks, same_block);
}

bool same_subscript(const subscript& a, const subscript& b) {
  if (!a.value || !b.value) return !a.value && !b.value && a.index == b.index;
  return same_expression(*a.value, *b.value);
}

index_kind kind_of(const program& p, const subscript& s) {
  return s.value ? index_kind::simple : p.indices[s.index].kind;
}

bool is_simple(const program& p, const subscript& s) { return kind_of(p, s) == index_kind::simple; }

bool all_simple(const program& p, const block_reference& b) {
  return std::ranges::all_of(b.subscripts, [&](const subscript& s) { return is_simple(p, s); });
}

bool repeats(const block_reference& b) { return has_twice(b.subscripts); }

bool fit_in_order(const program& p, const std::vector<subscript>& a, const std::vector<subscript>& b) {
  return std::ranges::equal(a, b, [&](const subscript& x, const subscript& y) {
    return same_subscript(x, y) || ((x.value || y.value) && is_simple(p, x) && is_simple(p, y));
  });
}

bool permuted(const std::vector<subscript>& a, const std::vector<subscript>& b) {
  return a.size() == b.size() && !has_twice(a) && std::ranges::all_of(a, [&](const subscript& s) { return has(b, s); });
}

std::vector<subscript> free_subscripts(const block_reference& a, const block_reference& b) {
  std::vector<subscript> all;
  for (const subscript& s : a.subscripts)
    if (!has(b.subscripts, s)) all.push_back(s);
  for (const subscript& s : b.subscripts)
    if (!has(a.subscripts, s)) all.push_back(s);
  return all;
}

bool is_piece(const program& p, const block_reference& b) {
  const auto& declared = p.arrays[b.array].indices;
  for (std::size_t d = 0; d < b.subscripts.size(); ++d)
    if (kind_of(p, b.subscripts[d]) == index_kind::sub && p.indices[declared[d]].kind != index_kind::sub) return true;
  return false;
}

}  // namespace tessera::sial
