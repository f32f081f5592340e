// The part of the scheduler that goes on without a device that is lost.
#include <fmt/format.h>

#include "core/schedule/device_driver.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

/// By the driver, whenever it has nothing better to do: what is queued goes elsewhere, what the device held is given
/// up.
bool device_driver::go_on_without() {
  bool any = false;
  if (m_where.state.exchange(executor_state::lost) != executor_state::lost) {
    any = true;
    m_owner.device_lost(m_where);
    m_owner.m_setup.coherence->space_at(m_where.space).notify();  // who waits for memory here goes elsewhere
  }
  while (task::record* t = m_where.urgent.pop()) {
    any = true;
    if ((t->flags & task::flag_acquired) != 0) release_blocks(*t);
    if (m_owner.cancelled())
      m_owner.run(*m_lane, *t);  // drops it
    else
      m_owner.place_elsewhere(*m_lane, *t, m_where);
  }
  if (!m_owner.m_setup.coherence->losses().emptied(m_where.space)) any = give_memory_up() || any;
  return any;
}

void device_driver::release_blocks(task::record& t) {
  note_started(t);
  m_owner.m_setup.coherence->finish(t.all_accesses());
  t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
}

bool device_driver::give_memory_up() {
  transfer::coherence& coherence = *m_owner.m_setup.coherence;
  memory::space& space = coherence.space_at(m_where.space);
  const std::uint64_t seen = space.events() + 1;  // the sweep itself is one
  if (coherence.losses().drop_lost_replicas(m_where.space) != 0) {
    wait_for_room(space, seen, m_called_by_own);
    return false;
  }
  space.give_slabs_back();
  space.notify();
  m_owner.device_changed();
  return true;
}

void scheduler::device_lost(const executor& where) {
  m_placer.note_change();
  if (!m_setup.settings->survive_loss) {
    const std::string details = where.device->loss_details();
    cancel(fmt::format("device {} is lost{}{}", where.device->name(), details.empty() ? "" : ": ", details),
           error_kind::device);
  }
  device_changed();
}

std::shared_ptr<const block::failure> scheduler::note_loss(const task::record& t, const executor& where) {
  return note_failure(t,
                      {.text = fmt::format("{} was under way on {}, which is lost", t.what->name, where.device->name()),
                       .where = {},
                       .kind = error_kind::device,
                       .by_loss = true});
}

}  // namespace tessera::schedule
