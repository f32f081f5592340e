#include "languages/sial/exchange/loop_scheduler.hpp"

#include <algorithm>

namespace tessera::sial {

loop_scheduler::loop_scheduler(std::uint32_t pardo, std::int64_t candidates, unsigned workers, bool fixed)
    : m_pardo(pardo),
      m_candidates(candidates),
      m_workers(workers),
      m_parts(workers),
      m_left(candidates),
      m_finished(workers) {
  std::int64_t end = 0;
  for (unsigned w = 0; w < workers; ++w) {
    m_parts[w].next.store(end, std::memory_order_relaxed);
    end += candidates / workers + (w < candidates % workers ? 1 : 0);
    m_parts[w].end = end;
  }
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
  part* from = &m_parts[worker];
  while (from->left() > 0 || (from = &*std::ranges::max_element(m_parts, {}, &part::left))->left() > 0) {
    std::int64_t begin = from->next.load(std::memory_order_relaxed);
    const std::int64_t share =
        std::clamp<std::int64_t>(m_left.load(std::memory_order_relaxed) / (std::int64_t{m_workers} * 4), 1,
                                 std::max<std::int64_t>(from->end - begin, 1));
    if (begin >= from->end) continue;
    if (!from->next.compare_exchange_weak(begin, begin + share, std::memory_order_relaxed)) continue;
    m_left.fetch_sub(share, std::memory_order_relaxed);
    return {begin, begin + share};
  }
  return {m_candidates, m_candidates};
}

std::int64_t loop_scheduler::finished() const noexcept {
  std::int64_t all = 0;
  for (const counted& c : m_finished) all += c.candidates.load(std::memory_order_relaxed);
  return all;
}

}  // namespace tessera::sial
