#include "languages/sial/exchange/thread_exchange.hpp"

#include <utility>

#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/exchange/local_generation.hpp"

namespace tessera::sial {

thread_exchange::thread_exchange(runtime& of, unsigned workers, bool deterministic)
    : exchange(workers, 0, workers, deterministic), m_runtime(of), m_values(workers) {}

void thread_exchange::fail(std::exception_ptr why) {
  const std::lock_guard guard(m_lock);
  if (!m_failure) m_failure = std::move(why);
  m_failed = true;
  call_all();
}

bool thread_exchange::arrive(std::uint32_t site) {
  std::unique_lock guard(m_lock);
  if (m_failed) throw given_up();
  if (m_ended > 0)
    throw run_error("other workers have ended, and will never get here", "all workers must reach the same barriers");
  if (m_waiting > 0 && m_site != site)
    throw run_error("other workers wait in another statement",
                    "all workers must reach the same barriers, in the same order");
  m_site = site;
  if (++m_waiting == size()) return true;
  const std::uint64_t round = m_round;
  runtime::waiting_elsewhere asleep(m_runtime);
  m_asleep.push_back(&asleep);
  m_turn.wait(guard, [&] { return m_round != round || m_failed; });
  if (m_round == round) throw given_up();
  return false;
}

void thread_exchange::call_all() {
  for (runtime::waiting_elsewhere* const one : m_asleep) one->end();
  m_asleep.clear();
  m_turn.notify_all();
}

void thread_exchange::depart() {
  const std::lock_guard guard(m_lock);
  m_waiting = 0;
  ++m_round;
  call_all();
}

void thread_exchange::barrier(std::uint32_t site, const std::function<void()>& last) {
  order_point& point = m_order[round() % m_order.size()];
  m_runtime.order_before(point);
  const bool is_last = arrive(site);
  m_runtime.order_after(point);
  if (!is_last) return;
  if (last) last();
  depart();
}

std::uint64_t thread_exchange::round() {
  const std::lock_guard guard(m_lock);
  return m_round;
}

std::shared_ptr<array_generation> thread_exchange::make_array(const std::string& name, std::vector<std::int64_t> counts,
                                                              std::shared_ptr<array_generation> base) {
  return std::make_shared<local_generation>(m_runtime, name, std::move(counts), std::move(base));
}

double thread_exchange::sum(unsigned worker, std::uint32_t site, double value) {
  m_values[worker] = value;
  barrier(site);
  double sum = 0;
  for (const double v : m_values) sum += v;
  barrier(site);  // no worker writes the next value before all have read these
  return sum;
}

double thread_exchange::of_first(unsigned worker, std::uint32_t site, double value) {
  m_values[worker] = value;
  barrier(site);
  const double first = m_values[0];
  barrier(site);
  return first;
}

void thread_exchange::broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values) {
  // A copy: when another thread fails, who gives it leaves while others may still read.
  if (worker == from) {
    auto given = std::make_shared<const std::vector<double>>(values);
    const std::lock_guard guard(m_lock);
    m_broadcast = std::move(given);
  }
  barrier(site);
  if (worker != from) {
    std::unique_lock guard(m_lock);
    const std::shared_ptr<const std::vector<double>> given = m_broadcast;
    guard.unlock();
    values = *given;
  }
  barrier(site);
}

void thread_exchange::leave() {
  const std::lock_guard guard(m_lock);
  ++m_ended;
  if (m_waiting > 0 && !m_failed) {
    m_failure = std::make_exception_ptr(
        run_error("a worker has ended while others wait for it", "all workers must reach the same barriers"));
    m_failed = true;
    call_all();
  }
}

std::shared_ptr<const loop_scheduler> thread_exchange::latest() const {
  const std::lock_guard guard(m_loop_lock);
  return m_latest;
}

std::shared_ptr<loop_scheduler> thread_exchange::schedule(std::uint64_t sequence, std::uint32_t pardo,
                                                          std::int64_t candidates) {
  const std::lock_guard guard(m_loop_lock);
  scheduled_loop& entry = m_loops[sequence];
  if (!entry.schedule)
    m_latest = entry.schedule = std::make_shared<loop_scheduler>(pardo, candidates, size(), deterministic());
  if (entry.schedule->pardo() != pardo)
    throw run_error("another worker has reached another pardo",
                    "all workers must reach the same pardos, in the same order");
  const std::shared_ptr<loop_scheduler> what = entry.schedule;
  if (++entry.workers == size()) m_loops.erase(sequence);
  return what;
}

}  // namespace tessera::sial
