// Parallel loops as one worker goes through them.
#include <fmt/format.h>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

bool worker::next_chunk(const pardo& p) {
  fail_if_stopped();
  std::tie(m_pardo.at, m_pardo.end) = m_pardo.schedule->take(m_number);
  if (m_pardo.at == m_pardo.end) return false;
  m_state.values.set_candidate(p, m_pardo.at);
  m_pardo.seen = m_pardo.at;
  look_ahead(p);
  return true;
}

bool worker::pardo_begin(const step& at) {
  const pardo& p = m_code.pardos[at.b];
  if (m_pardo.schedule) throw run_error("a pardo inside of a pardo");
  std::int64_t candidates = 1;
  for (std::size_t d = 0; d < p.indices.size(); ++d) {
    if (m_i[p.indices[d]] != unbound)
      throw run_error(fmt::format("index '{}' has a value already", m_code.indices[p.variables[d]].name),
                      "an enclosing loop runs over it");
    if (__builtin_mul_overflow(candidates, std::max<std::int64_t>(0, m_i[p.high[d]] - m_i[p.low[d]] + 1), &candidates))
      throw run_error("the pardo has more than 2^63 iterations");
  }
  m_pardo.schedule = m_run.workers.schedule(m_pardos++, at.b, candidates);
  m_private.enter_loop();
  if (next_chunk(p)) return true;
  pardo_leave(p);
  return false;
}

bool worker::pardo_next(const step& at) {
  const pardo& p = m_code.pardos[at.b];
  m_private.next_iteration();
  m_pardo.schedule->finished(m_number);
  if (++m_pardo.at < m_pardo.end) {
    m_state.values.next_candidate(p);
    if (m_run.has_other_memories) look_ahead(p);
    return true;
  }
  if (next_chunk(p)) return true;
  pardo_leave(p);
  return false;
}

void worker::pardo_leave(const pardo& p) {
  m_private.leave_loop();
  m_pardo.schedule.reset();
  for (const std::uint32_t index : p.indices) m_i[index] = unbound;
}

}  // namespace tessera::sial
