#include "core/schedule/parking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/schedule/device/driver.hpp"
#include "core/schedule/trace_points.hpp"

namespace tessera::schedule {

void scheduler::wait_for_points(task::record& t, std::span<const block::ticket> waits) {
  auto fresh = std::make_unique<parked>();
  fresh->owner = this;
  fresh->waiting = &t;
  fresh->left.store(waits.size());
  fresh->tickets.resize(waits.size());
  m_parked.fetch_add(1);
  if (trace::buffer* const events = current_lane().events) trace_park(*events, t, trace::parked_for_data);
  parked* const p = fresh.release();  // frees itself; after the last on_completion below it may be gone
  std::size_t count = waits.size();
  boost::container::small_vector<block::ticket, 8> tickets(waits.begin(), waits.end());
  for (std::size_t k = 0; k < count; ++k) {
    parked::one& mine = p->tickets[k];
    mine.all = p;
    mine.reached.at = tickets[k];
    mine.reached.fire = [](transfer::completion* self, tsr_status status) {
      parked* const all = reinterpret_cast<parked::one*>(self)->all;  // `reached` is its first member
      if (status != TSR_OK) all->worst.store(status);
      if (all->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      const std::unique_ptr<parked> done(all);
      scheduler& owner = *done->owner;
      owner.resume(*done->waiting, done->worst.load());
      owner.m_parked.fetch_sub(1);
      owner.m_pool.look_for_memory();  // it was a reason to hope
    };
    m_setup.coherence->streams().at(tickets[k].stream).on_completion(mine.reached);
  }
}

void scheduler::resume(task::record& t, tsr_status) {
  // A failed ticket has poisoned what it should have made; run() looks at that.
  lane& mine = current_lane();
  if (mine.events != nullptr) trace_resume(*mine.events, t);
  if (m_own.is_hold(t) && m_simulated == nullptr) {
    hand_over(t);
    return;
  }
  placement::place& where = *m_places[t.place == task::no_place ? 0 : t.place];
  if (!where.is_host && (t.flags & task::flag_acquired) != 0) m_drivers[where.number]->note_resumed();
  enqueue(mine, t, where, when_ready::queue);
}

void scheduler::wait_for_memory(task::record& t, placement::place& where, const transfer::acquisition& a) {
  auto fresh = std::make_unique<memory_parked>();
  fresh->driver = where.is_host ? nullptr : m_drivers[where.number].get();
  fresh->age = t.sequence;
  fresh->owner = this;
  fresh->waiting = &t;
  fresh->wake = [](memory::memory_waiter* self) {
    const std::unique_ptr<memory_parked> done(static_cast<memory_parked*>(self));
    if (done->driver != nullptr) done->driver->end_wait(*done->waiting);
    done->owner->resume(*done->waiting, TSR_OK);
  };
  if (trace::buffer* const events = current_lane().events) trace_park(*events, t, trace::parked_for_memory, a.lacking);
  memory_parked* const p = fresh.release();
  if (p->driver != nullptr) p->driver->begin_wait(t);
  if (!m_setup.coherence->space_at(a.lacking).wait_for_memory(*p, a.memory_events)) p->wake(p);
}

bool scheduler::resolve_memory_deadlock(lane& mine) {
  memory_deadlock::finding found = m_deadlock.resolve(m_single_space);
  if (found.hopeless != nullptr) give_up_waiter(mine, *found.hopeless, std::move(found.why));
  return found.released;
}

void scheduler::give_up_waiter(lane& mine, memory::memory_waiter& waiter, std::string why) {
  if (waiter.refuse != nullptr) {  // a device that wanted to leave stays
    waiter.refuse(&waiter);
    return;
  }
  const std::unique_ptr<memory_parked> done(static_cast<memory_parked*>(&waiter));
  task::record& t = *done->waiting;
  if (done->driver != nullptr) done->driver->end_wait(t);
  constexpr std::size_t most_named = 4;
  const auto accesses = t.all_accesses();
  why += "; it needs ";
  for (std::size_t k = 0; k < std::min(accesses.size(), most_named); ++k)
    why += (k == 0 ? "" : ", ") + block::name_of(*accesses[k].block);
  if (accesses.size() > most_named) why += fmt::format(" and {} more blocks", accesses.size() - most_named);
  fail_unstarted(mine, t, m_failures.note(t, {std::move(why), "", error_kind::memory}));
}

}  // namespace tessera::schedule
