// The part of the scheduler that takes a ready task to a queue, and from there to a thread.
#include <array>

#include "core/base/fence.hpp"
#include "core/schedule/device/driver.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/schedule/simulated_run.hpp"
#include "core/task/replay.hpp"

namespace tessera::schedule {

void scheduler::hand_over(task::record& view) noexcept {
  host_hold::of(view).at.store(host_hold::step::due, std::memory_order_release);
  call_guests();
}

void scheduler::dispatch(lane& mine, task::record& t, when_ready then) {
  if (m_own.is_hold(t) && m_simulated == nullptr) {
    t.place = 0;
    hand_over(t);
    return;
  }
  if ((t.flags & task::flag_reduction) != 0 && (t.flags & task::flag_prepared) == 0) {
    if (const std::shared_ptr<const block::failure> why = reductions::why_missing(t)) {
      t.flags |= task::flag_prepared;
      t.place = 0;
      t.extension = nullptr;
      fail_unstarted(mine, t, why);
      return;
    }
    // All adders have been enqueued: now it is known which private copies there are.
    give_copies(t, *m_places.front());
  }
  if ((t.flags & task::flag_replayed) != 0) {
    if (m_replays.uses_graphs() &&
        m_replays.joins_segment(mine, t, [&](task::record& segment) { dispatch(mine, segment, then); }))
      return;
    if (t.place != task::no_place && !m_places[t.place]->attached())
      t.place = task::no_place;  // its device has left since
    m_replays.prepare(t);
  }
  if (t.place != task::no_place || find_place(mine, t)) enqueue(mine, t, *m_places[t.place], then);
}

bool scheduler::find_place(lane& mine, task::record& t) {
  std::uint32_t at = 0;
  try {
    if (t.what->special == nullptr) at = m_placer.choose(t, mine.where);
  } catch (const error& e) {  // a policy plugin
    t.place = 0;
    fail_unstarted(mine, t, m_failures.note(t, {e.message(), e.where(), e.kind()}));
    return false;
  }
  if (at == placement::placer::nowhere) {
    t.place = 0;
    fail_unstarted(mine, t, m_failures.note(t, m_placer.why_nowhere(t)));
    return false;
  }
  t.place = static_cast<std::uint16_t>(at);
  if ((t.flags & task::flag_replayed) != 0 && !m_replays.is_segment(t)) replay_engine::remember_place(t);
  return true;
}

bool scheduler::place_again(lane& mine, task::record& t) {
  if (t.place == task::no_place || t.what->special != nullptr || cancelled()) return false;
  if ((t.flags & (task::flag_acquired | task::flag_prepared | task::flag_reduction | task::flag_replayed)) != 0)
    return false;
  placement::place& before = *m_places[t.place];
  if (!m_placer.withdraw(t, before)) return false;
  const std::uint32_t at = m_placer.choose(t, mine.where);  // it found a place before, so it finds one now
  if (at == placement::placer::nowhere) m_placer.charge(t, before, 0);
  if (at == t.place || at == placement::placer::nowhere) return false;
  t.place = static_cast<std::uint16_t>(at);
  m_placer.note_moved();
  enqueue(mine, t, *m_places[at], when_ready::queue);
  return true;
}

void scheduler::enqueue(lane& mine, task::record& t, placement::place& where, when_ready then) {
  if (!where.is_host) {
    where.urgent.push(t);
    m_drivers[where.number]->wake();
    return;
  }
  if (t.priority > 0) {
    where.urgent.push(t);
  } else if (t.priority < 0) {
    where.background.push(t);
  } else if (mine.is_driver || mine.place != where.number) {
    where.inbox.push(t);
  } else if (then == when_ready::run_next && mine.next_task == nullptr) {
    mine.next_task = &t;
    return;  // this thread runs it next: nobody needs to be woken
  } else if (!mine.spilled.empty() || !mine.ready.push(t)) {
    mine.spilled.push(t);  // behind what is there already
  }
  wake_one();
}

void scheduler::wake_one() {
  if (m_simulated != nullptr) {
    m_simulated->host_work = true;
    return;
  }
  // Somebody who spins will find it.
  full_fence();
  if (m_spinning.load(std::memory_order_relaxed) == 0 && m_work.has_sleepers()) m_work.notify_one();
}

bool scheduler::nothing_waits(const lane& mine)
    const noexcept {  // of what find() looks at before it looks at others' lanes; and of the background
  const placement::place& home = *m_places[mine.place];
  return home.urgent.empty() && mine.next_task == nullptr && mine.ready.size() == 0 && mine.spilled.empty() &&
         home.inbox.empty() && home.background.empty();
}

task::record* scheduler::find(lane& mine) {
  placement::place& home = *m_places[mine.place];
  if ((++mine.ticks & 63) == 0)  // so that a long chain of successors starves nobody
    if (task::record* t = home.inbox.pop()) return t;
  if (!home.urgent.empty())
    if (task::record* t = home.urgent.pop()) return t;
  if (task::record* t = mine.next_task) {
    mine.next_task = nullptr;
    return t;
  }
  if (task::record* t = mine.ready.pop()) return t;
  std::array<task::record*, ready_ring::capacity / 2> loot;
  const auto keep_rest = [&](std::uint32_t count) {
    for (std::uint32_t k = 1; k < count; ++k)
      if (!mine.ready.push(*loot[k])) mine.spilled.push(*loot[k]);
    return loot[0];
  };
  if (const std::uint32_t count = mine.spilled.pop(loot.data(), loot.size())) return keep_rest(count);
  if (task::record* t = home.inbox.pop()) return t;
  if (mine.victims_of != m_lanes.size()) refresh_victims(mine);
  for (const std::uint16_t v : mine.victims) {
    lane& victim = m_lanes[v];
    std::uint32_t count = victim.ready.steal(loot.data(), 32);
    if (count == 0) count = victim.spilled.pop(loot.data(), loot.size(), true);
    if (count == 0) continue;
    mine.steals.store(mine.steals.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    return keep_rest(count);
  }
  for (const auto& other : m_places) {
    if (!other->is_host || other->number == mine.place) continue;
    if (task::record* t = other->urgent.pop()) return t;
    if (task::record* t = other->inbox.pop()) return t;
  }
  if (task::record* t = home.background.pop()) return t;
  for (const auto& other : m_places)
    if (other->is_host && other->number != mine.place)
      if (task::record* t = other->background.pop()) return t;
  return nullptr;
}

}  // namespace tessera::schedule
