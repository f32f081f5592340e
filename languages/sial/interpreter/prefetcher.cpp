#include "languages/sial/interpreter/prefetcher.hpp"

#include <algorithm>
#include <cmath>

#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/interpreter/arithmetic_step.hpp"

namespace tessera::sial {
namespace {

constexpr unsigned max_steps = 20'000;  // of one iteration

}  // namespace

void prefetcher::ask_for(shared_block& b, array_generation& of) {
  program_run& run = m_state.run;
  if (!run.has_other_memories) return;
  if (of.group().spaces_of(b.elements).meets(run.host_spaces | run.device_spaces)) return;
  const std::uint64_t bytes = b.elements.bytes();
  if (run.bytes_under_way.load(std::memory_order_relaxed) + bytes > run.settings.held_bytes) return;
  run.bytes_under_way += bytes;
  ++m_state.counters.asked_early;
  run.rt.submit(
      "ask for", [&run, bytes](view<const double, any_rank>) { run.bytes_under_way -= bytes; },
      ::tessera::read(b.elements));
}

void prefetcher::look_ahead(const pardo_iterations& loop, bool is_new) {
  if (!m_state.run.has_other_memories) return;
  const std::int64_t now = loop.candidate();
  if (is_new) m_seen = now;
  if (m_state.run.settings.ahead == 0) return;
  const std::int64_t last = std::min(loop.end_of_chunk() - 1, now + m_state.run.settings.ahead);
  for (std::int64_t next = std::max(m_seen, now) + 1; next <= last; ++next) walk(loop.loop(), next);
  m_seen = std::max(m_seen, last);
}

void prefetcher::walk(const pardo& p, std::int64_t candidate) {
  m_values = m_state.values;
  m_values.set_candidate(p, candidate);
  m_returns.clear();
  m_data_is_known = true;
  m_at = p.top;
  for (unsigned steps = 0; steps < max_steps; ++steps) {
    const step& now = m_code.steps[m_at++];
    if (decides_on_scalars(now.operation) && !m_data_is_known) return;
    if (arithmetic_step(now, m_values.ints(), m_values.scalars(), m_at)) continue;
    if (!pass(now)) return;
  }
}

bool prefetcher::pass(const step& now) {
  switch (now.operation) {
    case opcode::divide_int:
    case opcode::divide_scalar:
    case opcode::round:
      return pass_number(now);
    case opcode::call:
      m_returns.push_back(m_at);
      m_at = now.a;
      return true;
    case opcode::return_:
      if (m_returns.empty()) return false;
      m_at = m_returns.back();
      m_returns.pop_back();
      return true;
    case opcode::loop_begin:
    case opcode::loop_next:
    case opcode::loop_leave:
      return pass_loop(now);
    case opcode::fetch:
      return pass_fetch(m_code.references[now.b]);
    case opcode::load_element:
    case opcode::inner_product:
    case opcode::power:
    case opcode::square_root:
    case opcode::execute:
      m_data_is_known = false;
      return true;
    case opcode::add_int:  // beyond 64 bits: the worker says so when it comes there
    case opcode::subtract_int:
    case opcode::multiply_int:
    case opcode::negate_int:
    case opcode::pardo_begin:
    case opcode::pardo_next:
    case opcode::pardo_leave:
    case opcode::stop:
    case opcode::end:
    case opcode::barrier:
      return false;
    default:
      return true;  // blocks only
  }
}

bool prefetcher::pass_number(const step& now) {
  std::int64_t* const i = m_values.ints();
  double* const s = m_values.scalars();
  if (now.operation == opcode::divide_int) {
    if (i[now.c] == 0 || i[now.c] == -1) return false;
    i[now.a] = i[now.b] / i[now.c];
  } else if (now.operation == opcode::divide_scalar) {
    s[now.a] = s[now.b] / s[now.c];
  } else {
    if (!m_data_is_known || !(s[now.b] > -0x1p62 && s[now.b] < 0x1p62)) return false;
    i[now.a] = static_cast<std::int64_t>(std::nearbyint(s[now.b]));
  }
  return true;
}

bool prefetcher::pass_loop(const step& now) {
  const loop& l = m_code.loops[now.b];
  std::int64_t* const i = m_values.ints();
  if (now.operation == opcode::loop_begin) {
    if (l.within != no_symbol || i[l.index] != unbound) return false;
    if (i[l.low] > i[l.high])
      m_at = now.a;
    else
      i[l.index] = i[l.low];
  } else if (now.operation == opcode::loop_next && i[l.index] < i[l.high]) {
    ++i[l.index];
    m_at = now.a;
  } else {
    i[l.index] = unbound;
  }
  return true;
}

bool prefetcher::pass_fetch(const reference& r) {
  segment_numbers at{};
  std::int64_t ordinal = 0;
  try {
    ordinal = m_values.ordinal_of(r, at);
  } catch (const run_error&) {
    return false;  // the iteration itself will say it
  }
  array_generation& generation = *m_generations[r.array];
  if (shared_block* const b = generation.find(ordinal)) ask_for(*b, generation);
  return true;
}

}  // namespace tessera::sial
