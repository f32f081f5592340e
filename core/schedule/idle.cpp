// The part of the scheduler for threads that find nothing to do: they spin, sleep, wait, and see that nobody waits
// without end.
#include <fmt/format.h>

#include "core/base/fence.hpp"
#include "core/schedule/alarm.hpp"
#include "core/schedule/device/driver.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

void scheduler::work(lane& mine, const predicate& enough, std::uint32_t look_every) {
  std::uint32_t ran = 0;
  const lane::at_work on(mine);
  const auto run_one = [&](task::record& t) {
    run(mine, t);
    // Both are powers of two: a division would show in the shortest tasks.
    if ((++ran & (m_look_every - 1)) == 0 && !m_guests.empty()) call_guests();
    return look_every != 0 && (ran & (look_every - 1)) == 0 && enough();
  };
  while (true) {
    if (task::record* t = find(mine)) {
      if (run_one(*t)) return;
      continue;
    }
    if (enough()) return;
    call_guests();

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
      if (run_one(*found)) return;
      continue;
    }
    if (leave) return;

    const std::uint32_t key = m_work.prepare();
    found = find(mine);
    if (found != nullptr || enough()) {
      m_work.cancel();
      if (found == nullptr || run_one(*found)) return;
      continue;
    }
    // Who saw that it was enough has cleared it; now it is not, for example when others submit too.
    if (mine.is_program) mine.waits.store(true);
    const std::uint64_t rests = m_rests.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (m_busy.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      m_busy.fetch_add(1, std::memory_order_seq_cst);
      if (resolve_memory_deadlock(mine)) {
        m_work.cancel();
        continue;  // what it released, and whoever waited for it
      }
      m_busy.fetch_sub(1, std::memory_order_seq_cst);
      // Another thread has come and gone meanwhile: it was not the last, and what it has changed may have been seen too
      // early.
      if (m_rests.load(std::memory_order_seq_cst) != rests) {
        m_busy.fetch_add(1, std::memory_order_seq_cst);
        m_work.cancel();
        continue;
      }
    }
    if (m_placer.model() != nullptr) m_placer.note_idle(*m_places[mine.place]);
    m_work.wait(key);
    m_busy.fetch_add(1, std::memory_order_seq_cst);
  }
}

void scheduler::help(lane& mine, const predicate& enough, std::uint32_t look_every) {
  if (enough()) return;
  if (m_simulated != nullptr) {
    simulate(mine, enough);
    return;
  }
  if (mine.works) {  // in a task, where only the end of a recording waits: in the place that the thread has already
    work(mine, enough, look_every);
    return;
  }
  waiting_room::guest me(enough, mine.waits);
  me.may_help = !mine.is_driver;
  m_guests.enter(me);
  for (;;) {
    const std::uint32_t calls = me.calls.load(std::memory_order_acquire);
    if (enough()) break;
    mine.waits.store(true, std::memory_order_seq_cst);
    bool free = false;
    if (me.may_help && m_helper.compare_exchange_strong(free, true)) {  // the one place of worker 0
      m_guests.set_helps(me, true);
      m_busy.fetch_add(1, std::memory_order_seq_cst);
      m_binding->place_this_thread();
      work(mine, enough, look_every);
      m_guests.set_helps(me, false);
      leave_place(mine, &me);
      continue;
    }
    notice_no_more_room();
    waiting_room::sleep(me, calls);
  }
  m_guests.leave(me);
  mine.waits.store(false, std::memory_order_relaxed);
  // The place may have been offered to this thread, which had waited long enough: then it is the next one's.
  full_fence();
  if (!m_guests.empty() && !m_helper.load(std::memory_order_relaxed)) m_guests.offer_place(nullptr);
}

std::atomic<bool>& scheduler::wait_elsewhere() {
  lane& mine = current_lane();
  mine.waits.store(true);
  notice_no_more_room();
  return mine.waits;
}

void scheduler::notice_no_more_room() {
  // What this thread has said of itself comes before its look at who waits; who begins to wait looks at all threads.
  full_fence();
  if (memory_awaited()) m_work.notify_one();
}

void scheduler::help_once(lane& mine) {
  bool free = false;
  if (m_simulated != nullptr || mine.is_driver || !m_helper.compare_exchange_strong(free, true)) return;
  m_busy.fetch_add(1, std::memory_order_seq_cst);
  if (task::record* const t = find(mine)) run(mine, *t);
  leave_place(mine, nullptr);
}

void scheduler::leave_place(lane& mine, const waiting_room::guest* leaving) noexcept {
  // What it would have run next is for others to take; and a wake-up that it had, or that nobody sent because it was
  // awake, is passed on.
  if (task::record* const t = std::exchange(mine.next_task, nullptr);
      t != nullptr && (!mine.spilled.empty() || !mine.ready.push(*t)))
    mine.spilled.push(*t);
  const bool last = m_busy.fetch_sub(1, std::memory_order_seq_cst) == 1;
  m_helper.store(false, std::memory_order_seq_cst);
  call_guests();  // what it has done may be enough for others too
  m_guests.offer_place(leaving);
  if (m_work.someone_sleeps() && (work_waits() || (last && memory_awaited()))) m_work.notify_one();
}

bool scheduler::work_waits() const noexcept {
  for (const auto& e : m_places)
    if (e->is_host && (!e->urgent.empty() || !e->inbox.empty() || !e->background.empty())) return true;
  for (std::uint32_t k = 0, count = m_lanes.size(); k < count; ++k)
    if (m_lanes[k].ready.size() != 0 || !m_lanes[k].spilled.empty()) return true;
  return false;
}

void scheduler::call_guests() {
  full_fence();  // who began to wait before this sees the change, or is seen here
  if (!m_guests.empty() && m_guests.look()) m_work.notify_all();
}

bool scheduler::memory_awaited() const noexcept {
  for (std::size_t k = 0; k < m_setup.coherence->space_count(); ++k)
    if (m_setup.coherence->space_at(static_cast<memory::space_number>(k)).has_waiters()) return true;
  return false;
}

scheduler::outlook scheduler::program_outlook() const noexcept {
  outlook best = outlook::none;
  for (std::uint32_t k = 0, count = m_lanes.size(); k < count; ++k) {
    const lane& l = m_lanes[k];
    if (!l.is_program || !l.in_use.load(std::memory_order_acquire) || l.waits.load(std::memory_order_seq_cst)) continue;
    best = std::max(best, l.held_views.load(std::memory_order_acquire) != 0 ? outlook::views : outlook::program);
  }
  return best;
}

bool scheduler::out_of_patience() {
  const std::lock_guard guard(m_patience_mutex);
  const auto patience = std::chrono::nanoseconds(m_setup.settings->patience_ns);
  const auto now = std::chrono::steady_clock::now();
  const std::uint64_t so_far = submitted();
  if (m_patience != nullptr && m_patience_since == so_far && now >= m_patience_end) return true;
  if (m_patience != nullptr && m_patience_since == so_far) return false;
  if (m_patience == nullptr) m_patience = std::make_unique<alarm>([this] { m_work.notify_all(); });
  m_patience_since = so_far;  // whenever the program has done something, it may do more
  m_patience_end = now + patience;
  m_patience->set(m_patience_end);
  return false;
}

bool scheduler::resolve_memory_deadlock(lane& mine) {
  // No task runs, nothing moves, and a task waits for memory: no event will ever wake it.
  if (!memory_awaited() || m_parked.load() != 0 || m_setup.coherence->transfers_pending()) return false;
  for (const auto& driver : m_drivers)
    if (driver && driver->active()) return false;
  for (const auto& driver : m_store_drivers)
    if (driver->active()) return false;
  transfer::coherence& coherence = *m_setup.coherence;
  const auto waited_for = [&](std::size_t k) -> memory::space* {
    memory::space& space = coherence.space_at(static_cast<memory::space_number>(k));
    return space.has_waiters() ? &space : nullptr;
  };
  // A thread of the program that holds a view and does not wait will give it back, and that is an event.
  const outlook program = m_simulated == nullptr ? program_outlook() : outlook::none;
  if (program == outlook::views) return false;
  // What nobody with a claim needs leaves; then claims end, so that younger ones may run and free something; if even
  // that has been done again and again, somebody is given up.
  if (!m_single_space && coherence.stuck_rounds() < 256) {
    for (std::size_t k = 0; k < coherence.space_count(); ++k)
      if (memory::space* const space = waited_for(k);
          space != nullptr && coherence.evict(space->number(), ~std::uint64_t{0})) {
        coherence.note_stuck();
        space->notify();
        return true;
      }
    if (coherence.suspend_claims()) return true;
  }
  if (program == outlook::program && !out_of_patience()) return false;
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
                   fmt::format("{} is full ({} of {} bytes in use) and nothing in it can be evicted{}{}", space.name(),
                               s.used_bytes, s.limit_bytes, stuck.empty() ? "" : ": ", stuck));
    return true;
  }
  return false;
}

}  // namespace tessera::schedule
