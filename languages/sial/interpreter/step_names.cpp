#include "languages/sial/interpreter/step_names.hpp"

namespace tessera::sial {
namespace {

bool is_served(const code& program, const step& done) {
  std::uint32_t array = nothing;
  if (done.operation == opcode::fetch) array = program.references[done.b].array;
  if (done.operation == opcode::store_block || done.operation == opcode::store_scalar)
    array = program.references[program.stores[done.b].to].array;
  return array != nothing && program.arrays[array].kind == array_kind::served;
}

}  // namespace

const char* step_names::word_of(const step& done) const {
  const bool served = is_served(m_code, done);
  switch (done.operation) {
    case opcode::block_fill:
    case opcode::region_fill:
      return "fill";
    case opcode::block_add:
    case opcode::block_sum:
      return "sum";
    case opcode::block_multiply:
    case opcode::block_scale:
      return "scale";
    case opcode::block_copy:
    case opcode::block_slice:
    case opcode::region_from_block:
    case opcode::block_from_region:
      return "copy";
    case opcode::block_product:
      return "contract";
    case opcode::inner_product:
      return "inner product";
    case opcode::load_element:
      return "element";
    case opcode::fetch:
      return served ? "request" : "get";
    case opcode::store_block:
    case opcode::store_scalar:
      return served ? "prepare" : "put";
    case opcode::allocate:
    case opcode::allocate_region:
      return "allocate";
    case opcode::release:
    case opcode::release_region:
      return "deallocate";
    case opcode::print:
      return "print";
    default:
      return "other";
  }
}

void step_names::record(const step& done, std::uint64_t began, double flops) {
  const place& where = m_code.sites[done.site].where;
  if (m_files.size() <= where.file) m_files.resize(m_code.sources.files.size() + 1);
  std::uint64_t& file = m_files[where.file];
  if (file == 0)
    file = 1 +
           m_to.name(where.file < m_code.sources.files.size() ? m_code.sources.files[where.file].path : m_code.program);
  std::uint64_t* what = &m_words[static_cast<std::uint8_t>(done.operation)][is_served(m_code, done) ? 1 : 0];
  if (done.operation == opcode::execute) {
    const std::uint32_t special = m_code.executions[done.b].special;
    m_instructions.resize(m_code.specials.size());
    what = &m_instructions[special];
    if (*what == 0) *what = 1 + m_to.name(m_code.specials[special].name);
  } else if (*what == 0) {
    *what = 1 + m_to.name(word_of(done));
  }
  m_to.step(*what - 1, file - 1, where.line, began, flops);
}

}  // namespace tessera::sial
