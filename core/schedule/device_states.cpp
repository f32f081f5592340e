#include "core/schedule/device_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"

namespace tessera::schedule {

std::vector<placement::place*> device_states::below(location::node_id location) const {
  const location::tree& tree = *m_setup.tree;
  std::vector<placement::place*> found;
  std::string names;
  for (const auto& e : *m_setup.places) {
    if (e->is_host) continue;
    names += (names.empty() ? "" : ", ") + e->name;
    if (tree.is_ancestor(location, e->location)) found.push_back(e.get());
  }
  if (!found.empty()) return found;
  const std::string& name = tree.at(location).properties.name;
  if (std::ranges::any_of(m_setup.drivers->stores(),
                          [&](const auto& e) { return tree.is_ancestor(location, e->location); }))
    throw error(error_kind::usage, fmt::format("'{}' is storage, which stays", name), {},
                "only devices are detached and attached");
  throw error(
      error_kind::usage, fmt::format("there is no device at or below '{}'", name), {},
      names.empty() ? "this machine has none; memories and workers of the host stay" : "the devices are " + names);
}

void device_states::note_change() {
  { const std::lock_guard guard(m_mutex); }  // a thread that is about to wait has looked, or will see it
  m_event.notify_all();
}

void device_states::begin_detached(location::node_id location) {
  for (placement::place* e : below(location)) {
    e->state.store(placement::place_state::detached);
    m_setup.coherence->links().close(e->space);
  }
}

void device_states::require_editable(std::string_view call) const {
  const thread_context& thread = m_setup.registry->current();
  if (thread.recorder != nullptr) throw error(error_kind::usage, fmt::format("{} inside a recording", call));
  if (m_setup.simulated)
    throw error(error_kind::usage, fmt::format("{} in a simulated run", call), {}, "simulated devices stay");
  if (!thread.in_program())
    throw error(error_kind::usage, fmt::format("{} inside a task", call), {},
                "devices come and go by the program's own threads");
  // Another thread that edits may wait for them, and this one would wait for it.
  if (const std::uint32_t views = thread.held_views.load(std::memory_order_relaxed); views != 0)
    throw error(error_kind::usage, while_holding_views(call, views), {},
                "release host views first: the device may hold what their blocks had before");
}

void device_states::detach(location::node_id location) {
  require_editable("detach");
  const std::lock_guard one_at_a_time(m_edit_mutex);
  std::vector<placement::place*> leaving = below(location);
  std::erase_if(leaving, [](const placement::place* e) { return !e->attached(); });
  if (leaving.empty())
    throw error(error_kind::usage, fmt::format("'{}' is detached already", m_setup.tree->at(location).properties.name));
  for (placement::place* e : leaving) {
    m_setup.coherence->links().close(e->space);
    driver_of(*e).departure().begin();
    e->state.store(placement::place_state::draining);
  }
  for (placement::place* e : leaving) {
    driver_of(*e).state_changed();
    m_setup.coherence->space_at(e->space).waiters().notify();  // who waits for memory there goes elsewhere
  }
  wait_until_empty(leaving);
  const std::unique_ptr<error> why = refusal_of(leaving);
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
    driver_of(*e).state_changed();
  }
  throw error(*why);
}

void device_states::wait_until_empty(const std::vector<placement::place*>& leaving) {
  const auto draining = [&] {
    return std::ranges::any_of(
        leaving, [](const placement::place* e) { return e->state.load() == placement::place_state::draining; });
  };
  const auto blocked_on_parent_memory = [&] {
    return std::ranges::any_of(
        leaving, [&](const placement::place* e) { return driver_of(*e).departure().blocked_on_parent_memory(); });
  };
  const auto refused = [&] {
    return std::ranges::any_of(
        leaving, [](const placement::place* e) { return e->state.load() == placement::place_state::attached; });
  };
  for (;;) {
    {
      std::unique_lock lock(m_mutex);
      m_event.wait(lock, [&] { return refused() || !draining() || blocked_on_parent_memory(); });
    }
    if (refused() || !draining()) break;
    // Tasks of the host may have to run before its memory has room; this thread may be the only one that can.
    m_setup.run_tasks_until([&] { return refused() || !draining() || !blocked_on_parent_memory(); });
  }
}

std::unique_ptr<error> device_states::refusal_of(const std::vector<placement::place*>& leaving) {
  std::unique_ptr<error> why;
  const std::lock_guard guard(m_mutex);
  for (placement::place* e : leaving) {
    std::unique_ptr<error> its = driver_of(*e).departure().take_refusal();
    if (its && !why) why = std::move(its);
  }
  return why;
}

void device_states::attach(location::node_id location) {
  require_editable("attach");
  const std::lock_guard one_at_a_time(m_edit_mutex);
  const std::vector<placement::place*> coming = below(location);
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
  if (!any)
    throw error(error_kind::usage, fmt::format("'{}' is attached already", m_setup.tree->at(location).properties.name));
  for (placement::place* e : coming) {
    placement::place_state was = placement::place_state::detached;
    if (!e->state.compare_exchange_strong(was, placement::place_state::attached)) continue;
    m_setup.coherence->links().open(e->space);
    driver_of(*e).state_changed();
  }
  m_setup.placer->note_change();  // with placement cost, what is queued elsewhere is looked at again
}

bool device_states::attached(location::node_id location) const {
  return std::ranges::all_of(below(location), [](const placement::place* e) { return e->attached(); });
}

}  // namespace tessera::schedule
