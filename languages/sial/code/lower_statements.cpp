// Statements that move data, and those that talk to other workers, to files and to the user.
#include "languages/sial/code/lowering.hpp"

namespace tessera::sial {

namespace {

template <class Entry>
std::uint32_t append(std::vector<Entry>& to, Entry what) {
  to.push_back(std::move(what));
  return static_cast<std::uint32_t>(to.size() - 1);
}

}  // namespace

void lowering::lower(const fetch_statement& s) { emit(opcode::fetch, 0, make_reference(s.block)); }

void lowering::lower(const store_statement& s) {
  store entry{s.assignment, make_reference(s.to), nothing};
  if (const auto* from = std::get_if<block_reference>(&s.from)) {
    entry.from = make_reference(*from);
    emit(opcode::store_block, 0, append(m_code.stores, entry));
    return;
  }
  const std::uint32_t value = value_of(std::get<expression>(s.from));
  emit(opcode::store_scalar, value, append(m_code.stores, entry));
}

void lowering::lower(const allocate_statement& s) {
  allocation entry{s.array, {}};
  for (const symbol index : s.subscripts) {
    if (index != no_symbol) check_index(index);
    entry.at.push_back(index == no_symbol ? nothing : m_code.first_index + index);
  }
  emit(s.release ? opcode::release : opcode::allocate, 0, append(m_code.allocations, std::move(entry)));
}

void lowering::lower(const allocate_region_statement& s) {
  emit(s.release ? opcode::release_region : opcode::allocate_region, 0, make_region(s.region));
}

void lowering::lower(const collective_statement& s) { emit(opcode::collective, s.scalar, value_of(s.value)); }

void lowering::lower(const broadcast_statement& s) { emit(opcode::broadcast, value_of(s.from), s.array); }

void lowering::lower(const assert_same_statement& s) { emit(opcode::assert_same, s.scalar, s.scalar); }

void lowering::lower(const execute_statement& s) {
  execution entry{s.special, {}};
  using kind = execution::argument::argument_kind;
  for (const execute_argument& a : s.arguments) {
    execution::argument to{kind::scalar};
    if (const auto* scalar = std::get_if<scalar_argument>(&a)) to = {kind::scalar, scalar->scalar};
    if (const auto* literal = std::get_if<literal_argument>(&a)) to = {kind::literal, 0, literal->value};
    if (const auto* block = std::get_if<block_reference>(&a)) to = {kind::block, make_reference(*block)};
    if (const auto* part = std::get_if<region_reference>(&a)) to = {kind::region, make_region(*part)};
    if (const auto* whole = std::get_if<whole_array>(&a)) to = {kind::whole, whole->array};
    entry.arguments.push_back(to);
  }
  emit(opcode::execute, 0, append(m_code.executions, std::move(entry)));
}

void lowering::lower(const persistent_statement& s) {
  const std::string& name = s.is_scalar ? m_from.scalars[s.operand].name : m_from.arrays[s.operand].name;
  emit(s.restore ? opcode::restore_persistent : opcode::set_persistent, 0,
       append(m_code.persistents, persistent{s.is_scalar, s.operand, name, s.label}));
}

void lowering::lower(const print_statement& s) {
  using form = print_statement::print_form;
  printing entry{s.form, s.line, {}, nothing, {}};
  if (const auto* text = std::get_if<std::string>(&s.operand)) entry.text = *text;
  if (const auto* value = std::get_if<expression>(&s.operand)) {
    entry.operand = value_of(*value);
    if (s.form == form::scalar_name) entry.text = m_from.scalars[value->variable].name;
    if (s.form == form::int_name) entry.text = m_from.ints[value->variable].name;
    if (s.form == form::index_name) entry.text = m_from.indices[value->variable].name;
  }
  if (const auto* block = std::get_if<block_reference>(&s.operand)) {
    entry.operand = make_reference(*block);
    entry.text = m_from.arrays[block->array].name;
  }
  if (const auto* part = std::get_if<region_reference>(&s.operand)) {
    entry.operand = make_region(*part);
    entry.text = m_from.arrays[part->array].name;
  }
  if (const auto* whole = std::get_if<whole_array>(&s.operand)) {
    entry.operand = whole->array;
    entry.text = m_from.arrays[whole->array].name;
  }
  emit(opcode::print, 0, append(m_code.prints, std::move(entry)));
}

}  // namespace tessera::sial
