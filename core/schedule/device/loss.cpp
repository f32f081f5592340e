// The part of a device's driver that goes on without the device, which is lost.
#include <fmt/format.h>

#include "core/schedule/device/driver.hpp"

namespace tessera::schedule {

/// By the driver, whenever it has nothing better to do: what is queued goes elsewhere, what the device held is given
/// up.
bool device_driver::handle_device_loss() {
  bool any = false;
  if (m_where.state.exchange(placement::place_state::lost) != placement::place_state::lost) {
    any = true;
    m_owner.device_lost(m_where);
    m_setup.coherence->space_at(m_where.space).waiters().notify();  // who waits for memory here goes elsewhere
  }
  while (task::record* t = m_where.ready_queue().pop()) {
    any = true;
    m_workspaces.kept(*t).reset();  // where it goes it takes another one
    if ((t->flags & task::flag_acquired) != 0) release_blocks(*t);
    if (m_setup.failures->cancelled())
      m_owner.drop(*m_context, *t);
    else
      m_owner.place_elsewhere(*m_context, *t, m_where);
  }
  if (!m_setup.coherence->losses().emptied(m_where.space)) any = give_memory_up() || any;
  return any;
}

void device_driver::release_blocks(task::record& t) {
  note_started(t);
  m_setup.coherence->finish(t.all_accesses());
  t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
}

bool device_driver::give_memory_up() {
  transfer::coherence& coherence = *m_setup.coherence;
  memory::space& space = coherence.space_at(m_where.space);
  const std::uint64_t seen = space.waiters().events() + 1;  // the sweep itself is one
  if (coherence.losses().drop_lost_replicas(m_where.space) != 0) {
    m_departure.wait_for_own_memory(seen);
    return false;
  }
  space.give_slabs_back();
  space.waiters().notify();
  m_owner.device_changed();
  return true;
}

}  // namespace tessera::schedule
