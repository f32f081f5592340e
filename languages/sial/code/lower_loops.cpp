// Control flow.
#include "languages/sial/code/lowering.hpp"

namespace tessera::sial {

void lowering::lower(const do_loop& s) {
  const index_range range = m_code.ranges[s.index];
  const auto number = static_cast<std::uint32_t>(m_code.loops.size());
  m_code.loops.push_back({m_code.first_index + s.index, range.low, range.high, s.index, s.within});
  const std::uint32_t begin = emit(opcode::loop_begin, 0, number), top = here(), site = m_site;
  m_loops.push_back({false, number, m_regions});
  std::vector<std::uint32_t> skips;
  for (const relation& r : s.where) skips.push_back(jump_unless(r));
  lower_body(s.inside);
  m_site = site;
  for (const std::uint32_t jump : skips) send(jump, here());
  emit(opcode::loop_next, top, number);
  send(begin, here());
  for (const std::uint32_t jump : m_loops.back().exits) send(jump, here());
  m_loops.pop_back();
}

void lowering::lower(const pardo_loop& s) {
  pardo p;
  for (const symbol index : s.indices) {
    p.variables.push_back(index);
    p.indices.push_back(m_code.first_index + index);
    p.low.push_back(m_code.ranges[index].low);
    p.high.push_back(m_code.ranges[index].high);
  }
  p.pragma = s.pragma;
  const auto number = static_cast<std::uint32_t>(m_code.pardos.size());
  m_code.pardos.push_back(p);
  const std::uint32_t begin = emit(opcode::pardo_begin, 0, number), top = here(), site = m_site;
  m_loops.push_back({true, number, m_regions});
  std::vector<std::uint32_t> skips;
  for (const relation& r : s.where) skips.push_back(jump_unless(r));
  m_code.pardos[number].top = top;
  emit(opcode::iteration, 0, number);
  lower_body(s.inside);
  m_site = site;
  for (const std::uint32_t jump : skips) send(jump, here());
  emit(opcode::pardo_next, top, number);
  send(begin, here());
  m_code.pardos[number].end = here();
  for (const std::uint32_t jump : m_loops.back().exits) send(jump, here());
  m_loops.pop_back();
}

void lowering::lower(const if_statement& s) {
  const std::uint32_t over = jump_unless(s.condition);
  lower_body(s.then);
  if (s.otherwise.empty()) {
    send(over, here());
    return;
  }
  const std::uint32_t past = emit(opcode::jump);
  send(over, here());
  lower_body(s.otherwise);
  send(past, here());
}

void lowering::lower(const gpu_section& s) {
  m_code.has_device_regions = true;
  emit(opcode::devices_on);
  ++m_regions;
  lower_body(s.inside);
  --m_regions;
  emit(opcode::devices_off, 1);
}

void lowering::lower(const call_statement& s) { m_calls.emplace_back(emit(opcode::call), s.procedure); }

void lowering::lower(const return_statement&) {
  if (m_regions > 0) emit(opcode::devices_off, m_regions);
  for (auto open = m_loops.rbegin(); open != m_loops.rend(); ++open)
    emit(open->is_pardo ? opcode::pardo_leave : opcode::loop_leave, 0, open->number);
  emit(opcode::return_);
}

void lowering::lower(const exit_statement&) {
  const open_loop& innermost = m_loops.back();
  if (m_regions > innermost.regions) emit(opcode::devices_off, m_regions - innermost.regions);
  emit(innermost.is_pardo ? opcode::pardo_leave : opcode::loop_leave, 0, innermost.number);
  m_loops.back().exits.push_back(emit(opcode::jump));
}

}  // namespace tessera::sial
