// The part of the scheduler that lets devices come and go while tasks run.
#include <fmt/format.h>

#include "core/schedule/device/driver.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/task/replay.hpp"

namespace tessera::schedule {

std::vector<placement::place*> scheduler::devices_below(location::node_id where) const {
  const location::tree& tree = *m_setup.tree;
  std::vector<placement::place*> found;
  std::string names;
  for (const auto& e : m_places) {
    if (e->is_host) continue;
    names += (names.empty() ? "" : ", ") + e->name;
    if (tree.is_ancestor(where, e->where)) found.push_back(e.get());
  }
  if (!found.empty()) return found;
  const std::string& name = tree.at(where).is.name;
  if (std::ranges::any_of(m_stores, [&](const auto& e) { return tree.is_ancestor(where, e->where); }))
    throw error(error_kind::usage, fmt::format("'{}' is storage, which stays", name), {},
                "only devices are detached and attached");
  throw error(
      error_kind::usage, fmt::format("there is no device at or below '{}'", name), {},
      names.empty() ? "this machine has none; memories and workers of the host stay" : "the devices are " + names);
}

void scheduler::require_editable(std::string_view what) {
  const thread_context& mine = current_thread();
  if (mine.recorder != nullptr) throw error(error_kind::usage, fmt::format("{} inside a recording", what));
  if (m_setup.simulated != nullptr)
    throw error(error_kind::usage, fmt::format("{} in a simulated run", what), {}, "simulated devices stay");
  if (!mine.in_program())
    throw error(error_kind::usage, fmt::format("{} inside a task", what), {},
                "devices come and go by the program's own threads");
}

void scheduler::device_changed() {
  { const std::lock_guard guard(m_device_mutex); }  // whoever is about to wait has looked, or will see it
  m_device_event.notify_all();
  m_pool.wake_all();
  m_pool.call_guests();
}

void scheduler::detach(location::node_id where) {
  require_editable("detach");
  thread_context& mine = current_thread();
  if (const std::uint32_t views = mine.held_views.load(std::memory_order_relaxed); views != 0)
    throw error(error_kind::usage, fmt::format("detach while this thread holds {} views", views), {},
                "release host views first: the device may hold what their blocks had before");
  const std::lock_guard one_at_a_time(m_edit_mutex);
  std::vector<placement::place*> leaving = devices_below(where);
  std::erase_if(leaving, [](const placement::place* e) { return !e->attached(); });
  if (leaving.empty())
    throw error(error_kind::usage, fmt::format("'{}' is detached already", m_setup.tree->at(where).is.name));
  for (placement::place* e : leaving) {
    m_setup.coherence->links().close(e->space);
    m_drivers[e->number]->begin_leaving();
    e->state.store(placement::place_state::draining);
  }
  for (placement::place* e : leaving) {
    m_drivers[e->number]->state_changed();
    m_setup.coherence->space_at(e->space).notify();  // who waits for memory there goes elsewhere
  }
  const auto draining = [&] {
    return std::ranges::any_of(
        leaving, [](const placement::place* e) { return e->state.load() == placement::place_state::draining; });
  };
  const auto starved = [&] {
    return std::ranges::any_of(leaving, [&](const placement::place* e) { return m_drivers[e->number]->starved(); });
  };
  const auto refused = [&] {
    return std::ranges::any_of(
        leaving, [](const placement::place* e) { return e->state.load() == placement::place_state::attached; });
  };
  for (;;) {
    {
      std::unique_lock lock(m_device_mutex);
      m_device_event.wait(lock, [&] { return refused() || !draining() || starved(); });
    }
    if (refused() || !draining()) break;
    // Tasks of the host may have to run before its memory has room; this thread may be the only one that can.
    help(mine, [&] { return refused() || !draining() || !starved(); });
  }
  std::unique_ptr<error> why;
  {
    const std::lock_guard guard(m_device_mutex);
    for (placement::place* e : leaving) {
      std::unique_ptr<error> its = m_drivers[e->number]->take_refusal();
      if (its && !why) why = std::move(its);
    }
  }
  if (!why) {
    for (const placement::place* e : leaving)
      if (e->state.load() == placement::place_state::lost)
        throw error(error_kind::device, fmt::format("{} was lost before it could be detached", e->name), {},
                    "a fence names what was lost with it");
    return;
  }
  for (placement::place* e : leaving) {  // all or none; a device that was lost meanwhile stays lost
    placement::place_state was = e->state.load();
    while (was != placement::place_state::lost &&
           !e->state.compare_exchange_weak(was, placement::place_state::attached)) {
    }
    if (was == placement::place_state::lost) continue;
    m_setup.coherence->links().open(e->space);
    m_drivers[e->number]->state_changed();
  }
  throw error(*why);
}

void scheduler::attach(location::node_id where) {
  require_editable("attach");
  const std::lock_guard one_at_a_time(m_edit_mutex);
  const std::vector<placement::place*> coming = devices_below(where);
  bool any = false;
  for (const placement::place* e : coming) {
    if (e->state.load() == placement::place_state::lost)
      throw error(error_kind::usage, fmt::format("{} is lost and cannot be attached again", e->name), {},
                  "start the program anew");
    if (e->attached()) continue;
    any = true;
    if (e->device->table().health != nullptr)
      e->device->check(plugin::contained("health", [&] { return e->device->table().health(e->device->handle()); }),
                       "the question for its health");
  }
  if (!any) throw error(error_kind::usage, fmt::format("'{}' is attached already", m_setup.tree->at(where).is.name));
  for (placement::place* e : coming) {
    placement::place_state was = placement::place_state::detached;
    if (!e->state.compare_exchange_strong(was, placement::place_state::attached)) continue;
    m_setup.coherence->links().open(e->space);
    m_drivers[e->number]->state_changed();
  }
  m_placer.note_change();  // with placement cost, what is queued elsewhere is looked at again
}

bool scheduler::attached(location::node_id where) const {
  return std::ranges::all_of(devices_below(where), [](const placement::place* e) { return e->attached(); });
}

bool scheduler::place_elsewhere(thread_context& mine, task::record& t, placement::place& from) {
  m_placer.discharge(t, from);
  from.tasks.fetch_sub(1, std::memory_order_relaxed);
  std::uint32_t at = placement::placer::nowhere;
  std::unique_ptr<block::failure> why;
  try {
    at = m_placer.choose(t, mine.where);
  } catch (const error& e) {  // a policy plugin
    why = std::make_unique<block::failure>(block::failure{e.message(), e.where(), e.kind()});
  }
  if (at != placement::placer::nowhere && m_places[at]->state.load() == placement::place_state::draining &&
      from.state.load() != placement::place_state::lost) {  // no other place; choose has counted it
    if (at != from.number) {
      m_placer.discharge(t, *m_places[at]);
      m_places[at]->tasks.fetch_sub(1, std::memory_order_relaxed);
      m_placer.charge(t, from, 0);
    }
    return false;
  }
  if (at == placement::placer::nowhere) {
    if (!why) why = std::make_unique<block::failure>(m_placer.why_nowhere(t));
    t.place = 0;
    t.extension = nullptr;  // not counted anywhere
    fail_unstarted(mine, t, m_failures.note(t, std::move(*why)));
    return true;
  }
  t.place = static_cast<std::uint16_t>(at);
  if ((t.flags & task::flag_replayed) != 0) replay_engine::remember_place(t);
  m_placed_elsewhere.fetch_add(1, std::memory_order_relaxed);
  enqueue(mine, t, *m_places[at], when_ready::queue);
  return true;
}

}  // namespace tessera::schedule
