#include "languages/sial/exchange/loop_scheduler.hpp"

#include <algorithm>

namespace tessera::sial {

loop_scheduler::loop_scheduler(std::uint32_t pardo, std::int64_t candidates, unsigned workers, bool fixed)
    : m_pardo(pardo), m_candidates(candidates), m_workers(workers), m_finished(workers) {
  if (!fixed) return;
  m_fixed = std::max<std::int64_t>(1, candidates / (std::int64_t{workers} * 64));
  for (unsigned w = 0; w < workers; ++w) m_chunk.push_back(w);
}

std::pair<std::int64_t, std::int64_t> loop_scheduler::take(unsigned worker) {
  if (m_fixed > 0) {
    const std::int64_t begin = std::min(m_candidates, m_chunk[worker] * m_fixed);
    m_chunk[worker] += m_workers;
    return {begin, std::min(m_candidates, begin + m_fixed)};
  }
  std::int64_t begin = m_next.load(std::memory_order_relaxed);
  while (begin < m_candidates) {
    const std::int64_t share = std::max<std::int64_t>(1, (m_candidates - begin) / (std::int64_t{m_workers} * 4));
    if (m_next.compare_exchange_weak(begin, begin + share, std::memory_order_relaxed)) return {begin, begin + share};
  }
  return {m_candidates, m_candidates};
}

std::int64_t loop_scheduler::finished() const noexcept {
  std::int64_t all = 0;
  for (const counted& c : m_finished) all += c.candidates.load(std::memory_order_relaxed);
  return all;
}

}  // namespace tessera::sial
