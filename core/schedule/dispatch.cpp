// The part of the scheduler that takes a ready task to a queue, and sets tasks aside that wait.
#include <utility>

#include "core/schedule/scheduler.hpp"
#include "core/schedule/trace_points.hpp"
#include "core/task/replay.hpp"

namespace tessera::schedule {

void scheduler::dispatch(thread_context& thread, task::record& t, when_ready then) {
  // Most tasks of a replay where there is one place: nothing to choose and nothing to wait for.
  if (then == when_ready::run_next && m_mode.single_place && t.place == 0 &&
      (t.flags & (task::flag_replayed | task::flag_reduction)) == task::flag_replayed && !m_mode.simulated &&
      m_replays.is_plain(t) && worker_queues::run_next(thread, t))
    return;
  if ((t.rare & task::rare_commutes) != 0 && !m_commuting.enter(t)) return;
  if (m_own.is_view(t) && !m_mode.simulated) {
    t.place = 0;
    m_view_requests.hand_over(thread, t);
    return;
  }
  if ((t.flags & task::flag_reduction) != 0 && (t.flags & task::flag_prepared) == 0) {
    if (const std::shared_ptr<const block::failure> why = reductions::why_missing(t)) {
      t.flags |= task::flag_prepared;
      t.place = 0;
      t.extension = nullptr;
      fail(thread, t, why);
      return;
    }
    // All adders have been enqueued: now it is known which private copies there are.
    give_copies(t, *m_places.front());
  }
  if ((t.flags & task::flag_replayed) != 0) {
    if (m_replays.uses_graphs() &&
        m_replays.joins_segment(thread, t, [&](task::record& segment) { dispatch(thread, segment, then); }))
      return;
    if (t.place != task::no_place && !m_places[t.place]->attached())
      t.place = task::no_place;  // its device has left since
    m_replays.prepare(t);
  }
  if (t.place != task::no_place || find_place(thread, t)) enqueue(thread, t, *m_places[t.place], then);
}

void scheduler::resume(task::record& t) {
  thread_context& thread = current_thread();
  if (thread.events != nullptr) trace_resume(*thread.events, t);
  if (m_own.is_view(t) && !m_mode.simulated) {
    m_view_requests.hand_over(thread, t);
    return;
  }
  placement::place& where = *m_places[t.place == task::no_place ? 0 : t.place];
  if (!where.is_host && (t.flags & task::flag_acquired) != 0) m_drivers.of(where).note_resumed();
  enqueue(thread, t, where, when_ready::queue);
}

void scheduler::wait_for_points(task::record& t, std::span<const block::ticket> points) {
  m_parking.wait_for_points(t, points, current_thread().events);
}

void scheduler::wait_for_memory(task::record& t, placement::place& where, const transfer::acquisition& lacking) {
  m_parking.wait_for_memory(t, m_drivers.find(where), lacking, current_thread().events);
}

bool scheduler::find_place(thread_context& thread, task::record& t) {
  std::uint32_t at = 0;
  try {
    if (t.operation->special == nullptr) at = m_placer.choose(t, thread.location);
  } catch (const error& e) {  // a policy plugin
    t.place = 0;
    fail(thread, t, m_failures.note(t, {e.message(), e.where(), e.kind()}));
    return false;
  }
  if (at == placement::placer::no_place) {
    t.place = 0;
    fail(thread, t, m_failures.note(t, m_placer.why_no_place(t)));
    return false;
  }
  t.place = static_cast<std::uint16_t>(at);
  if ((t.flags & task::flag_replayed) != 0 && !m_replays.is_segment(t)) replay_engine::remember_place(t);
  return true;
}

bool scheduler::place_again(thread_context& thread, task::record& t) {
  if (t.place == task::no_place || t.operation->special != nullptr || m_failures.cancelled()) return false;
  if ((t.flags & (task::flag_acquired | task::flag_prepared | task::flag_reduction | task::flag_replayed)) != 0)
    return false;
  placement::place& before = *m_places[t.place];
  if (!m_placer.withdraw(t, before)) return false;
  const std::uint32_t at = m_placer.choose(t, thread.location);  // it found a place before, so it finds one now
  if (at == placement::placer::no_place) m_placer.charge(t, before, 0);
  if (at == t.place || at == placement::placer::no_place) return false;
  t.place = static_cast<std::uint16_t>(at);
  m_placer.note_moved();
  enqueue(thread, t, *m_places[at], when_ready::queue);
  return true;
}

void scheduler::enqueue(thread_context& thread, task::record& t, placement::place& where, when_ready then) {
  if (!where.is_host) {
    where.ready_queue().push(t);
    m_drivers.of(where).wake();
    return;
  }
  if (then == when_ready::queue) {
    // As in a chain: the tasks that it has submitted since its last ready one wait for others. Where each task is
    // ready, two threads run more of them than one.
    constexpr std::uint64_t tasks_that_wait = 16;
    const std::uint64_t submitted = thread.submitted.load(std::memory_order_relaxed);
    if (submitted - std::exchange(thread.chain.submitted, submitted) >= tasks_that_wait &&
        m_queues.keep(thread, t, where))
      return m_pool.note_kept_task();
  } else if (worker_queues::runs_chain(thread) && m_queues.give_back(thread, t)) {
    return m_pool.note_kept_task();
  }
  if (m_queues.push(thread, t, where, then)) m_pool.note_task();
}

}  // namespace tessera::schedule
