#include "core/schedule/device/departure.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "core/base/units.hpp"

namespace tessera::schedule {

/// Wakes the driver when a memory has had an event; frees itself.
struct device_departure::call_back : memory::memory_waiter {
  device_departure* of = nullptr;
  std::atomic<bool>* registered = nullptr;
};

bool device_departure::empty_memory() {
  transfer::coherence& coherence = *m_setup.coherence;
  memory::space& space = coherence.space_at(m_setup.where->space);
  const memory::space_number above = coherence.parent_of(m_setup.where->space);
  memory::space& parent = coherence.space_at(above != memory::no_space ? above : m_setup.where->space);
  const std::uint64_t seen = space.waiters().events(), seen_above = parent.waiters().events();
  const bool last_try = m_no_room.exchange(false);

  const transfer::evacuation step = coherence.evacuate(m_setup.where->space);
  constexpr std::uint64_t max_failures = 8;
  if (step.left == 0) {
    m_blocked_on_parent_memory.store(false);
    space.give_slabs_back();
    placement::place_state was = placement::place_state::draining;
    m_setup.where->state.compare_exchange_strong(was, placement::place_state::detached);
    space.waiters().notify();  // tasks that wait for memory here go elsewhere, and the call-backs end
    parent.waiters().notify();
    m_setup.owner->device_changed();
    return true;
  }
  if (step.failing || coherence.failed_write_backs() - m_failures_before.load() > max_failures) {
    refuse({error_kind::device, fmt::format("{} cannot be detached: copies from it fail", m_setup.where->name)});
    return true;
  }
  if (step.progress || step.busy) {
    m_blocked_on_parent_memory.store(false);
    if (step.busy) std::this_thread::yield();
    return true;
  }
  if (step.lacking_bytes > 0 && last_try && !step.waiting) {
    refuse({error_kind::memory,
            fmt::format("{} cannot be detached: {} that only it holds ({} among them) find no room in {}",
                        m_setup.where->name, format_bytes(static_cast<double>(step.lacking_bytes)), step.example,
                        above != memory::no_space ? parent.name() : "any other memory"),
            {},
            "free arrays that are not needed any more, raise memory.host_limit, or add a disk"});
    return true;
  }
  // A memory or a pin will become free, or the thread that finds that none can (see resolve_memory_deadlock) tells.
  wait_for_room(space, seen, m_called_by_own);
  if (&parent != &space) wait_for_room(parent, seen_above, m_called_by_parent);
  if (step.lacking_bytes > 0 && !m_blocked_on_parent_memory.exchange(true)) m_setup.owner->device_changed();
  return false;
}

void device_departure::wait_for_own_memory(std::uint64_t seen) {
  wait_for_room(m_setup.coherence->space_at(m_setup.where->space), seen, m_called_by_own);
}

void device_departure::wait_for_room(memory::space& space, std::uint64_t seen, std::atomic<bool>& registered) {
  if (registered.exchange(true)) return;
  auto fresh = std::make_unique<call_back>();
  fresh->of = this;
  fresh->registered = &registered;
  fresh->wake = [](memory::memory_waiter* self) {
    const std::unique_ptr<call_back> registration(static_cast<call_back*>(self));
    registration->registered->store(false);
    registration->of->m_setup.look_again();
  };
  fresh->refuse = [](memory::memory_waiter* self) {
    static_cast<call_back*>(self)->of->m_no_room.store(true);
    self->wake(self);
  };
  call_back* const call = fresh.release();
  if (!space.waiters().wait(*call, seen)) call->wake(call);
}

void device_departure::refuse(error why) {
  {
    const std::lock_guard guard(m_refusal_lock);
    m_refusal = std::make_unique<error>(std::move(why));
  }
  m_blocked_on_parent_memory.store(false);
  placement::place_state was = placement::place_state::draining;
  m_setup.where->state.compare_exchange_strong(was, placement::place_state::attached);
  transfer::coherence& coherence = *m_setup.coherence;
  coherence.space_at(m_setup.where->space).waiters().notify();  // ends the call-backs
  if (const auto above = coherence.parent_of(m_setup.where->space); above != memory::no_space)
    coherence.space_at(above).waiters().notify();
  m_setup.owner->device_changed();
}

void device_departure::begin() noexcept {
  m_failures_before.store(m_setup.coherence->failed_write_backs());
  m_blocked_on_parent_memory.store(false);
  m_no_room.store(false);
}

std::unique_ptr<error> device_departure::take_refusal() {
  const std::lock_guard guard(m_refusal_lock);
  return std::move(m_refusal);
}

}  // namespace tessera::schedule
