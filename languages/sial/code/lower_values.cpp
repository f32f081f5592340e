// Expressions, and the registers that hold them.
#include <bit>

#include "languages/sial/code/lowering.hpp"

namespace tessera::sial {

std::uint32_t lowering::int_register(std::int64_t start) {
  m_code.int_start.push_back(start);
  return static_cast<std::uint32_t>(m_code.int_start.size() - 1);
}

std::uint32_t lowering::int_constant(std::int64_t value) {
  const auto [at, is_new] = m_int_constants.try_emplace(value, 0);
  if (is_new) at->second = int_register(value);
  return at->second;
}

std::uint32_t lowering::scalar_constant(double value) {
  const auto [at, is_new] = m_scalar_constants.try_emplace(std::bit_cast<std::uint64_t>(value), 0);
  if (is_new) {
    m_code.scalar_start.push_back(value);
    at->second = static_cast<std::uint32_t>(m_code.scalar_start.size() - 1);
  }
  return at->second;
}

std::uint32_t lowering::int_temporary() {
  if (m_used_ints == m_int_temporaries.size()) m_int_temporaries.push_back(int_register(0));
  return m_int_temporaries[m_used_ints++];
}

std::uint32_t lowering::scalar_temporary() {
  if (m_used_scalars == m_scalar_temporaries.size()) {
    m_code.scalar_start.push_back(0);
    m_scalar_temporaries.push_back(static_cast<std::uint32_t>(m_code.scalar_start.size() - 1));
  }
  return m_scalar_temporaries[m_used_scalars++];
}

std::uint32_t lowering::range_end(const bound& of) {
  if (of.constant == no_symbol) return int_constant(of.value);
  const auto [at, is_new] = m_symbolic.try_emplace(of.constant, 0);
  if (is_new) {
    at->second = int_register(0);
    m_code.symbolic_bounds.emplace_back(at->second, of.constant);
  }
  return at->second;
}

void lowering::check_index(symbol index) {
  if (m_in_procedure)
    emit(opcode::check_bound, m_code.first_index + index, index);  // elsewhere the checker has seen its loop
}

std::uint32_t lowering::value_of(const expression& e) {
  switch (e.kind) {
    case operation::int_literal:
      return int_constant(e.i);
    case operation::scalar_literal:
      return scalar_constant(e.d);
    case operation::int_variable:
      return e.variable;
    case operation::index_variable:
      check_index(e.variable);
      return m_code.first_index + e.variable;
    case operation::scalar_variable:
      return e.variable;
    default:
      break;
  }
  const std::uint32_t to = e.type == value_type::integer ? int_temporary() : scalar_temporary();
  value_into(e, to);
  return to;
}

void lowering::value_into(const expression& e, std::uint32_t to) {
  const bool is_int = e.type == value_type::integer;
  const auto binary = [&](opcode ints, opcode scalars) {
    const std::uint32_t left = value_of(e.operands[0]), right = value_of(e.operands[1]);
    emit(is_int ? ints : scalars, to, left, right);
  };
  const auto unary = [&](opcode ints, opcode scalars) { emit(is_int ? ints : scalars, to, value_of(e.operands[0])); };
  switch (e.kind) {
    case operation::int_literal:
    case operation::scalar_literal:
    case operation::int_variable:
    case operation::index_variable:
    case operation::scalar_variable:
      emit(is_int ? opcode::move_int : opcode::move_scalar, to, value_of(e));
      return;
    case operation::simple_block:
      emit(opcode::load_element, to, make_reference(e.blocks[0]));
      return;
    case operation::contraction:
      emit(opcode::inner_product, to, inner_product_of(e.blocks[0], e.blocks[1]));
      return;
    case operation::negate:
      unary(opcode::negate_int, opcode::negate_scalar);
      return;
    case operation::square_root:
      unary(opcode::square_root, opcode::square_root);
      return;
    case operation::to_int:
      emit(opcode::round, to, value_of(e.operands[0]));
      return;
    case operation::to_scalar:
      emit(opcode::to_scalar, to, value_of(e.operands[0]));
      return;
    case operation::add:
      binary(opcode::add_int, opcode::add_scalar);
      return;
    case operation::subtract:
      binary(opcode::subtract_int, opcode::subtract_scalar);
      return;
    case operation::multiply:
      binary(opcode::multiply_int, opcode::multiply_scalar);
      return;
    case operation::divide:
      binary(opcode::divide_int, opcode::divide_scalar);
      return;
    case operation::power:
      binary(opcode::power, opcode::power);
      return;
  }
}

std::uint32_t lowering::jump_unless(const relation& r) {
  const std::uint32_t left = value_of(r.left), right = value_of(r.right);
  if (r.left.type == value_type::integer) {
    switch (r.kind) {
      case relation_kind::less:
        return emit(opcode::jump_less_equal_int, 0, right, left);
      case relation_kind::less_equal:
        return emit(opcode::jump_less_int, 0, right, left);
      case relation_kind::greater:
        return emit(opcode::jump_less_equal_int, 0, left, right);
      case relation_kind::greater_equal:
        return emit(opcode::jump_less_int, 0, left, right);
      case relation_kind::equal:
        return emit(opcode::jump_not_equal_int, 0, left, right);
      case relation_kind::not_equal:
        return emit(opcode::jump_equal_int, 0, left, right);
    }
  }
  switch (r.kind) {  // a comparison with what is not a number is false
    case relation_kind::less:
      return emit(opcode::jump_not_less_scalar, 0, left, right);
    case relation_kind::less_equal:
      return emit(opcode::jump_not_less_equal_scalar, 0, left, right);
    case relation_kind::greater:
      return emit(opcode::jump_not_less_scalar, 0, right, left);
    case relation_kind::greater_equal:
      return emit(opcode::jump_not_less_equal_scalar, 0, right, left);
    case relation_kind::equal:
      return emit(opcode::jump_not_equal_scalar, 0, left, right);
    case relation_kind::not_equal:
      return emit(opcode::jump_equal_scalar, 0, left, right);
  }
  return emit(opcode::jump);
}

std::uint32_t lowering::make_reference(const block_reference& b) {
  reference r;
  r.array = b.array;
  r.rank = static_cast<std::uint8_t>(b.subscripts.size());
  for (std::size_t d = 0; d < b.subscripts.size(); ++d) {
    const subscript& s = b.subscripts[d];
    if (s.value != nullptr) {
      r.at[d] = value_of(*s.value);
    } else {
      check_index(s.index);
      const index_declaration &index = m_from.indices[s.index],
                              &declared = m_from.indices[m_from.arrays[b.array].indices[d]];
      const bool piece =
          index.kind == index_kind::sub && declared.kind != index_kind::sub;  // of the block that the parent chooses
      r.at[d] = m_code.first_index + (piece ? index.parent : s.index);
      r.simple = r.simple && index.kind == index_kind::simple;
    }
  }
  m_code.references.push_back(r);
  return static_cast<std::uint32_t>(m_code.references.size() - 1);
}

std::uint32_t lowering::make_region(const region_reference& from) {
  region r;
  r.array = from.array;
  r.rank = static_cast<std::uint8_t>(from.ranges.size());
  for (std::size_t d = 0; d < from.ranges.size(); ++d) {
    r.low[d] = value_of(from.ranges[d].first);
    r.high[d] = value_of(from.ranges[d].second);
  }
  m_code.regions.push_back(r);
  return static_cast<std::uint32_t>(m_code.regions.size() - 1);
}

}  // namespace tessera::sial
