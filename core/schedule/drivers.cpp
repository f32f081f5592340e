// The part of the scheduler that drivers of devices call.
#include <fmt/format.h>

#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

thread_context& scheduler::begin_driver(const placement::place& of, bool played) {
  return played ? m_registry.make_driver(of) : m_registry.register_thread(&of);
}

void scheduler::drop(thread_context& thread, task::record& t) { run(thread, t); }

void scheduler::enqueued(thread_context& thread, task::record& t) {
  m_reductions.give_back(t);
  release_successors(thread, t, when_ready::queue);
}

void scheduler::nothing_to_do() {
  m_pool.wake_waiters();
  m_pool.look_for_memory();  // the device was a reason to hope: look again without it
}

void scheduler::device_lost(const placement::place& which) {
  m_placer.note_change();
  if (!m_setup.settings->survive_loss) {
    const std::string details = which.device->loss_details();
    cancel(fmt::format("device {} is lost{}{}", which.device->name(), details.empty() ? "" : ": ", details),
           error_kind::device);
  }
  device_changed();
}

void scheduler::device_changed() {
  m_device_states.note_change();
  m_pool.wake_all();
  m_pool.wake_waiters();
}

bool scheduler::place_elsewhere(thread_context& thread, task::record& t, placement::place& from) {
  m_placer.discharge(t, from);
  from.tasks.fetch_sub(1, std::memory_order_relaxed);
  std::uint32_t at = placement::placer::no_place;
  std::unique_ptr<block::failure> why;
  try {
    at = m_placer.choose(t, thread.location);
  } catch (const error& e) {  // a policy plugin
    why = std::make_unique<block::failure>(block::failure{e.message(), e.where(), e.kind()});
  }
  if (at != placement::placer::no_place && m_places[at]->state.load() == placement::place_state::draining &&
      from.state.load() != placement::place_state::lost) {  // no other place; choose has counted it
    if (at != from.number) {
      m_placer.discharge(t, *m_places[at]);
      m_places[at]->tasks.fetch_sub(1, std::memory_order_relaxed);
      m_placer.charge(t, from, 0);
    }
    return false;
  }
  if (at == placement::placer::no_place) {
    if (!why) why = std::make_unique<block::failure>(m_placer.why_no_place(t));
    t.place = 0;
    t.extension = nullptr;  // not counted anywhere
    fail(thread, t, m_failures.note(t, std::move(*why)));
    return true;
  }
  t.place = static_cast<std::uint16_t>(at);
  if ((t.flags & task::flag_replayed) != 0) replay_engine::remember_place(t);
  m_device_states.note_placed_elsewhere();
  enqueue(thread, t, *m_places[at], when_ready::queue);
  return true;
}

}  // namespace tessera::schedule
