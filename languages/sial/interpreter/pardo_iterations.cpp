#include "languages/sial/interpreter/pardo_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

void pardo_iterations::begin(std::uint32_t number) {
  const code& program = m_state.run.program;
  const pardo& p = program.pardos[number];
  const registers& values = m_state.values;
  if (is_open()) throw run_error("a pardo inside of a pardo");
  std::int64_t candidates = 1;
  for (std::size_t d = 0; d < p.indices.size(); ++d) {
    if (values.integer(p.indices[d]) != unbound)
      throw run_error(fmt::format("index '{}' has a value already", program.indices[p.variables[d]].name),
                      "an enclosing loop runs over it");
    const std::int64_t count = values.integer(p.high[d]) - values.integer(p.low[d]) + 1;
    if (__builtin_mul_overflow(candidates, std::max<std::int64_t>(0, count), &candidates))
      throw run_error("the pardo has more than 2^63 iterations");
  }
  m_scheduler = m_state.run.workers.schedule(m_begun++, number, candidates);
  m_pardo = &p;
}

bool pardo_iterations::take_chunk() {
  if (m_state.run.workers.failed()) throw given_up();
  std::tie(m_at, m_end) = m_scheduler->take(m_state.number);
  if (m_at == m_end) return false;
  m_state.values.set_candidate(*m_pardo, m_at);
  return true;
}

void pardo_iterations::end() noexcept {
  m_scheduler.reset();
  for (const std::uint32_t index : m_pardo->indices) m_state.values.integer(index) = unbound;
}

}  // namespace tessera::sial
