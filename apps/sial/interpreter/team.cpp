#include "apps/sial/interpreter/team.hpp"

#include <algorithm>

namespace tessera::sial {

dealing::dealing(std::uint32_t pardo, std::int64_t candidates, unsigned workers, bool fixed)
    : m_pardo(pardo), m_candidates(candidates), m_workers(workers), m_finished(workers) {
  if (!fixed) return;
  m_fixed = std::max<std::int64_t>(1, candidates / (std::int64_t{workers} * 64));
  for (unsigned w = 0; w < workers; ++w) m_chunk.push_back(w);
}

std::pair<std::int64_t, std::int64_t> dealing::take(unsigned worker) {
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

team::team(runtime& of, unsigned workers, bool deterministic)
    : m_runtime(of), m_size(workers), m_deterministic(deterministic), m_values(workers) {}

void team::fail(std::exception_ptr why) {
  const std::lock_guard guard(m_lock);
  if (!m_failure) m_failure = std::move(why);
  m_failed = true;
  call_all();
}

bool team::arrive(std::uint32_t site) {
  std::unique_lock guard(m_lock);
  if (m_failed) throw given_up();
  if (m_ended > 0)
    throw run_error("other workers have ended, and will never get here", "all workers must reach the same barriers");
  if (m_waiting > 0 && m_site != site)
    throw run_error("other workers wait in another statement",
                    "all workers must reach the same barriers, in the same order");
  m_site = site;
  if (++m_waiting == m_size) return true;
  const std::uint64_t round = m_round;
  runtime::waiting_elsewhere asleep(m_runtime);
  m_asleep.push_back(&asleep);
  m_turn.wait(guard, [&] { return m_round != round || m_failed; });
  if (m_round == round) throw given_up();
  return false;
}

void team::call_all() {
  for (runtime::waiting_elsewhere* const one : m_asleep) one->end();
  m_asleep.clear();
  m_turn.notify_all();
}

void team::depart() {
  const std::lock_guard guard(m_lock);
  m_waiting = 0;
  ++m_round;
  call_all();
}

double team::sum(unsigned worker, std::uint32_t site, double value) {
  m_values[worker] = value;
  meet(site);
  double sum = 0;
  for (const double v : m_values) sum += v;
  meet(site);  // nobody writes the next value before all have read these
  return sum;
}

double team::of_first(unsigned worker, std::uint32_t site, double value) {
  m_values[worker] = value;
  meet(site);
  const double first = m_values[0];
  meet(site);
  return first;
}

void team::broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values) {
  if (worker == from) m_broadcast = &values;
  meet(site);
  if (worker != from) values = *m_broadcast;
  meet(site);
}

void team::leave() {
  const std::lock_guard guard(m_lock);
  ++m_ended;
  if (m_waiting > 0 && !m_failed) {
    m_failure = std::make_exception_ptr(
        run_error("a worker has ended while others wait for it", "all workers must reach the same barriers"));
    m_failed = true;
    call_all();
  }
}

std::int64_t dealing::finished() const noexcept {
  std::int64_t all = 0;
  for (const counted& c : m_finished) all += c.candidates.load(std::memory_order_relaxed);
  return all;
}

std::shared_ptr<const dealing> team::latest() const {
  const std::lock_guard guard(m_dealing_lock);
  return m_latest;
}

std::shared_ptr<dealing> team::deal(std::uint64_t sequence, std::uint32_t pardo, std::int64_t candidates) {
  const std::lock_guard guard(m_dealing_lock);
  dealt& entry = m_dealings[sequence];
  if (!entry.what) m_latest = entry.what = std::make_shared<dealing>(pardo, candidates, m_size, m_deterministic);
  if (entry.what->pardo() != pardo)
    throw run_error("another worker has reached another pardo",
                    "all workers must reach the same pardos, in the same order");
  const std::shared_ptr<dealing> what = entry.what;
  if (++entry.workers == m_size) m_dealings.erase(sequence);
  return what;
}

}  // namespace tessera::sial
