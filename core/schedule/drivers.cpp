// The part of the scheduler that drivers of devices call, that lets devices come and go, and that watches their
// streams.
#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/schedule/device/watchdog.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

driver_setup scheduler::setup_of_drivers() {
  return {.owner = this,
          .coherence = m_setup.coherence,
          .placer = &m_placer,
          .settings = m_setup.settings,
          .failures = &m_failures,
          .validator = m_setup.validator,
          .simulated = m_setup.simulated};
}

thread_context& scheduler::begin_driver(const placement::place& of, bool played) {
  return played ? m_registry.make_driver(of) : m_registry.register_thread(&of);
}

void scheduler::drop(thread_context& mine, task::record& t) { run(mine, t); }

void scheduler::enqueued(thread_context& mine, task::record& t) {
  reductions::give_back(t);
  release(mine, t, when_ready::queue);
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

void scheduler::require_editable(std::string_view what) {
  const thread_context& mine = current_thread();
  if (mine.recorder != nullptr) throw error(error_kind::usage, fmt::format("{} inside a recording", what));
  if (m_mode.simulated)
    throw error(error_kind::usage, fmt::format("{} in a simulated run", what), {}, "simulated devices stay");
  if (!mine.in_program())
    throw error(error_kind::usage, fmt::format("{} inside a task", what), {},
                "devices come and go by the program's own threads");
}

void scheduler::detach(location::node_id where) {
  require_editable("detach");
  thread_context& mine = current_thread();
  if (const std::uint32_t views = mine.held_views.load(std::memory_order_relaxed); views != 0)
    throw error(error_kind::usage, fmt::format("detach while this thread holds {} views", views), {},
                "release host views first: the device may hold what their blocks had before");
  m_device_states.detach(where, [&](const predicate& enough) { run_tasks_until(mine, enough); });
}

void scheduler::attach(location::node_id where) {
  require_editable("attach");
  m_device_states.attach(where);
}

bool scheduler::attached(location::node_id where) const { return m_device_states.attached(where); }

bool scheduler::place_elsewhere(thread_context& mine, task::record& t, placement::place& from) {
  m_placer.discharge(t, from);
  from.tasks.fetch_sub(1, std::memory_order_relaxed);
  std::uint32_t at = placement::placer::no_place;
  std::unique_ptr<block::failure> why;
  try {
    at = m_placer.choose(t, mine.location);
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
    fail(mine, t, m_failures.note(t, std::move(*why)));
    return true;
  }
  t.place = static_cast<std::uint16_t>(at);
  if ((t.flags & task::flag_replayed) != 0) replay_engine::remember_place(t);
  m_device_states.note_placed_elsewhere();
  enqueue(mine, t, *m_places[at], when_ready::queue);
  return true;
}

std::unique_ptr<watchdog> scheduler::watch_streams() {
  const auto limit = std::chrono::nanoseconds(m_setup.settings->watchdog_ns);
  std::vector<transfer::stream*> watched;
  for (const auto& s : m_setup.coherence->streams().all())
    if (!s->device().has(TSR_DEVICE_INLINE)) watched.push_back(s.get());
  if (limit.count() == 0 || watched.empty() || m_mode.simulated) return nullptr;
  return std::make_unique<watchdog>(
      limit, watched, m_setup.coherence->streams(), [this, watched, limit](const watchdog::finding& found) {
        const plugin::device& device = found.which->device();
        const std::string text =
            fmt::format("device {} hangs: stream {} has not come further for {}, doing {}", device.name(),
                        found.which->number(), format_seconds(std::chrono::duration<double>(limit).count()),
                        found.doing.description.empty() ? "something that nobody waits for" : found.doing.description);
        m_failures.note({.text = text, .where = {}, .kind = error_kind::device});
        cancel(text, error_kind::device);
        m_failures.note_hung();
        device.give_up_threads();
        for (transfer::stream* s : watched)
          if (&s->device() == &device) s->abandon(TSR_DEADLINE_EXCEEDED, text);
        // What other devices have begun may end; what then still waits for this one never will.
        const auto until =
            std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(limit, std::chrono::seconds(2));
        for (transfer::stream* s : watched)
          while (s->busy() && std::chrono::steady_clock::now() < until) s->wait_until_idle(1'000'000);
        for (transfer::stream* s : watched)
          if (s->busy()) {
            s->device().give_up_threads();
            s->abandon(TSR_DEADLINE_EXCEEDED, text);
          }
        m_drivers.wake();
        m_pool.wake_all();
        m_pool.wake_waiters();
      });
}

}  // namespace tessera::schedule
