// The part of the scheduler for threads that find nothing to do: they spin, sleep, and see that nobody waits for ever.
#include <fmt/format.h>

#include "core/base/fence.hpp"
#include "core/schedule/device_driver.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

void scheduler::work(lane& mine, const predicate& enough) {
  while (true) {
    if (task::record* t = find(mine)) {
      run(mine, *t);
      continue;
    }
    if (enough()) return;
    full_fence();  // between the count of what this thread has retired and the look at the threads that wait for it; help() is the other half
    if (m_waiting.load(std::memory_order_relaxed) != 0) m_work.notify_all();

    // Spin for a while: work usually comes within microseconds.
    m_spinning.fetch_add(1, std::memory_order_seq_cst);
    task::record* found = nullptr;
    bool leave = false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(m_spin_ns);
    for (unsigned spins = 0; found == nullptr && !leave; ++spins) {
      for (int k = 0; k < 16; ++k) cpu_relax();
      found = find(mine);
      if (found == nullptr) leave = enough();
      if ((spins & 15) == 15 && std::chrono::steady_clock::now() > until) break;
    }
    const bool last_spinner = m_spinning.fetch_sub(1, std::memory_order_seq_cst) == 1;
    if (found != nullptr) {
      if (last_spinner) m_work.notify_one();  // there may be more of it
      run(mine, *found);
      continue;
    }
    if (leave) return;

    const std::uint32_t key = m_work.prepare();
    found = find(mine);
    if (found != nullptr || enough()) {
      m_work.cancel();
      if (found == nullptr) return;
      run(mine, *found);
      continue;
    }
    if (m_busy.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      m_busy.fetch_add(1, std::memory_order_seq_cst);
      if (resolve_memory_deadlock(mine)) {
        m_work.cancel();
        continue;  // what it released, and whoever waited for it
      }
      m_busy.fetch_sub(1, std::memory_order_seq_cst);
    }
    if (m_history != nullptr) note_idle(*m_executors[mine.executor]);
    m_work.wait(key);
    m_busy.fetch_add(1, std::memory_order_seq_cst);
  }
}

void scheduler::help(lane& mine, const predicate& enough) {
  if (enough()) return;
  if (m_simulated != nullptr) {
    simulate(mine, enough);
    return;
  }
  m_waiting.fetch_add(1, std::memory_order_seq_cst);
  bool free = false;
  if (!mine.is_driver && m_helper.compare_exchange_strong(free, true)) {  // the one place of worker 0
    work(mine, enough);
    m_helper.store(false);
    m_work.notify_all();  // another waiting thread may take the place
  } else {
    while (!enough()) {
      const std::uint32_t key = m_work.prepare();
      if (enough() || (!mine.is_driver && !m_helper.load())) {
        m_work.cancel();
        free = false;
        if (!enough() && !mine.is_driver && m_helper.compare_exchange_strong(free, true)) {
          work(mine, enough);
          m_helper.store(false);
          m_work.notify_all();
        }
        continue;
      }
      m_work.wait(key);
    }
  }
  m_waiting.fetch_sub(1, std::memory_order_seq_cst);
}

bool scheduler::resolve_memory_deadlock(lane& mine) {
  // Nobody runs, nothing moves, and somebody waits for memory: no event will ever wake him.
  if (m_parked.load() != 0 || m_setup.coherence->transfers_pending()) return false;
  for (const auto& driver : m_drivers)
    if (driver && driver->active()) return false;
  for (const auto& driver : m_store_drivers)
    if (driver->active()) return false;
  transfer::coherence& coherence = *m_setup.coherence;
  const auto waited_for = [&](std::size_t k) -> memory::space* {
    memory::space& space = coherence.space_at(static_cast<memory::space_number>(k));
    return space.has_waiters() ? &space : nullptr;
  };
  // What nobody with a claim needs leaves; then claims end, so that younger ones may run and free something; if even that has been
  // done again and again, somebody is given up.
  if (!m_single_space && coherence.stuck_rounds() < 256) {
    for (std::size_t k = 0; k < coherence.space_count(); ++k)
      if (memory::space* const space = waited_for(k); space != nullptr && coherence.evict(space->number(), ~std::uint64_t{0})) {
        coherence.note_stuck();
        space->notify();
        return true;
      }
    if (coherence.lift_claims()) return true;
  }
  for (std::size_t k = 0; k < coherence.space_count(); ++k) {
    if (waited_for(k) == nullptr) continue;
    memory::space& space = *waited_for(k);
    memory::memory_waiter* oldest = space.take_oldest_waiter();
    if (oldest == nullptr) continue;
    if (space.may_try_again()) {  // the plugin has refused a slab: perhaps not the next one
      oldest->wake(oldest);
      return true;
    }
    const memory::space_statistics s = space.statistics();
    const std::string stuck = m_setup.coherence->why_stuck(space.number());
    give_up_waiter(mine, *oldest,
                   fmt::format("{} is full ({} of {} bytes in use) and nothing in it can be evicted{}{}", space.name(), s.used_bytes,
                               s.limit_bytes, stuck.empty() ? "" : ": ", stuck));
    return true;
  }
  return false;
}

}  // namespace tessera::schedule
