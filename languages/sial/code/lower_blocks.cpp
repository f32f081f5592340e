// Assignments.
#include <algorithm>

#include "languages/sial/code/lowering.hpp"
#include "languages/sial/language/subscripts.hpp"

namespace tessera::sial {
char label_assignment::letter_of(const subscript& s) {
  for (std::size_t k = 0; k < m_seen.size(); ++k)
    if (same_subscript(m_seen[k], s)) return static_cast<char>('a' + k);
  m_seen.push_back(s);
  return static_cast<char>('a' + m_seen.size() - 1);
}

std::array<char, 8> label_assignment::of(const block_reference& b) {
  std::array<char, 8> letters{};
  for (std::size_t d = 0; d < b.subscripts.size(); ++d) letters[d] = letter_of(b.subscripts[d]);
  return letters;
}

void lowering::emit_block(opcode what, block_operation o, std::uint32_t a) {
  o.sum_site = m_sum_site;
  m_code.block_operations.push_back(o);
  emit(what, a, static_cast<std::uint32_t>(m_code.block_operations.size() - 1));
}

void lowering::lower(const assign_int& s) {
  if (s.assignment == assign::set) {
    value_into(s.value, s.to);
    return;
  }
  const opcode what = s.assignment == assign::add        ? opcode::add_int
                      : s.assignment == assign::subtract ? opcode::subtract_int
                                                         : opcode::multiply_int;
  emit(what, s.to, s.to, value_of(s.value));
}

void lowering::lower(const assign_scalar& s) {
  if (s.assignment == assign::set) {
    value_into(s.value, s.to);
    return;
  }
  const opcode what = s.assignment == assign::add        ? opcode::add_scalar
                      : s.assignment == assign::subtract ? opcode::subtract_scalar
                                                         : opcode::multiply_scalar;
  emit(what, s.to, s.to, value_of(s.value));
}

void lowering::lower(const block_scalar& s) {
  block_operation o;
  o.assignment = s.assignment;
  o.to = make_reference(s.to);
  const std::uint32_t value = value_of(s.value);
  emit_block(s.assignment == assign::set        ? opcode::block_fill
             : s.assignment == assign::multiply ? opcode::block_multiply
                                                : opcode::block_add,
             o, value);
}

void lowering::lower(const block_copy& s) {
  block_operation o;
  o.assignment = s.assignment;
  o.to = make_reference(s.to);
  o.left = make_reference(s.from);
  label_assignment labels;
  o.left_letters = labels.of(s.from);
  o.to_letters = labels.of(s.to);
  o.common = static_cast<std::uint8_t>(std::min(s.to.subscripts.size(), s.from.subscripts.size()));
  for (std::size_t d = 0; d < o.common; ++d) {
    const auto at = std::find(o.left_letters.begin(), o.left_letters.begin() + o.common, o.to_letters[d]);
    o.permutation[d] = static_cast<std::uint8_t>(at - o.left_letters.begin());
    o.same_order = o.same_order && o.permutation[d] == d;
  }
  emit_block(opcode::block_copy, o);
}

void lowering::lower(const block_sum& s) {
  block_operation o;
  o.assignment = s.assignment;
  o.minus = s.minus;
  o.to = make_reference(s.to);
  o.left = make_reference(s.left);
  o.right = make_reference(s.right);
  emit_block(opcode::block_sum, o);
}

void lowering::lower(const block_scaled& s) {
  block_operation o;
  o.assignment = s.assignment;
  o.to = make_reference(s.to);
  o.left = make_reference(s.from);
  o.factor = value_of(s.factor);
  emit_block(opcode::block_scale, o);
}

void lowering::lower(const block_product& s) {
  block_operation o;
  o.assignment = s.assignment;
  o.to = make_reference(s.to);
  o.left = make_reference(s.left);
  o.right = make_reference(s.right);
  label_assignment labels;
  o.left_letters = labels.of(s.left);
  o.right_letters = labels.of(s.right);
  o.to_letters = labels.of(s.to);
  emit_block(opcode::block_product, o);
}

std::uint32_t lowering::inner_product_of(const block_reference& left, const block_reference& right) {
  block_operation o;
  o.left = make_reference(left);
  o.right = make_reference(right);
  label_assignment labels;
  o.left_letters = labels.of(left);
  o.right_letters = labels.of(right);
  for (std::size_t d = 0; d < right.subscripts.size(); ++d) {
    const auto at = std::find(o.left_letters.begin(), o.left_letters.end(), o.right_letters[d]);
    o.permutation[d] = static_cast<std::uint8_t>(at - o.left_letters.begin());
    o.same_order = o.same_order && o.permutation[d] == d;
  }
  m_code.block_operations.push_back(o);
  return static_cast<std::uint32_t>(m_code.block_operations.size() - 1);
}

void lowering::lower(const block_slice& s) {
  block_operation o;
  o.to = make_reference(s.to);
  o.left = make_reference(s.from);
  o.insert = s.insert;
  emit_block(opcode::block_slice, o);
}

void lowering::lower(const region_fill& s) {
  m_code.region_operations.push_back({make_region(s.to), nothing});
  const auto number = static_cast<std::uint32_t>(m_code.region_operations.size() - 1);
  emit(opcode::region_fill, value_of(s.value), number);
}

void lowering::lower(const region_from_block& s) {
  m_code.region_operations.push_back({make_region(s.to), make_reference(s.from)});
  emit(opcode::region_from_block, 0, static_cast<std::uint32_t>(m_code.region_operations.size() - 1));
}

void lowering::lower(const block_from_region& s) {
  m_code.region_operations.push_back({make_region(s.from), make_reference(s.to)});
  emit(opcode::block_from_region, 0, static_cast<std::uint32_t>(m_code.region_operations.size() - 1));
}

}  // namespace tessera::sial
