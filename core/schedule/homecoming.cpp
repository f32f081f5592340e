// The part of the scheduler that keeps the promise of adopted arrays: memory of the program has the last versions after
// a fence.
#include "core/schedule/scheduler.hpp"

namespace tessera::schedule {

/// Submits a read at home of each block whose last version is elsewhere. False: there is none, and none is on its way.
bool scheduler::bring_home(std::source_location site) {
  transfer::coherence& coherence = *m_setup.coherence;
  if (m_simulated != nullptr) return false;  // nobody looks at the memory
  // The flag goes down behind the count of what another thread brings home.
  if (!coherence.adopted().any_stale() && m_coming_home.load(std::memory_order_acquire) == 0) return false;
  // An array that ends meanwhile does so behind these reads, or before they are thought of.
  const std::lock_guard guard(m_home_mutex);
  const std::vector<block::record*> stale = coherence.adopted().take_stale();
  m_coming_home.fetch_add(stale.size(), std::memory_order_release);
  for (block::record* const b : stale) {
    lane* mine = nullptr;
    task::record& t = begin(*m_bring_home, site, mine);
    t.access_count = 1;
    t.accesses[0] = {.block = b, .version = 0, .how = intent::read, .flags = 0, .space = 0};
    commit(*mine, t, false);
  }
  coherence.adopted().none_stale();
  return true;
}

void scheduler::run_home(lane& mine, task::record& t) {
  if (!m_single_space) {  // where there is one memory, the end of an open sum is all that it waited for
    if ((t.flags & task::flag_acquired) != 0 && !still_good(mine, t)) return;
    if ((t.flags & task::flag_acquired) == 0 && !acquire(mine, t, *m_places[0])) return;
    m_setup.coherence->finish(t.all_accesses());
  }
  m_coming_home.fetch_sub(1, std::memory_order_release);
  complete(mine, t);
}

/// For the end of an adopted block. False: it waits for a copy, or for memory on the way.
bool scheduler::home_before_end(lane& mine, task::record& t) {
  transfer::coherence& coherence = *m_setup.coherence;
  block::access& a = t.accesses[0];
  if ((t.flags & task::flag_acquired) != 0) {
    coherence.finish({&a, 1});
    t.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
  }
  transfer::acquisition& got = mine.acquisition;
  while (coherence.adopted().stale(*a.block) && !cancelled()) {
    a.how = intent::read;
    coherence.acquire({&a, 1}, m_places[0]->space, got, t.sequence);
    switch (got.what) {
      case transfer::outcome::ready:
        if (got.waits.empty()) {
          coherence.finish({&a, 1});
          break;
        }
        t.flags |= task::flag_acquired;
        wait_for_points(t, got.waits);
        return false;
      case transfer::outcome::retry:
        if (got.waits.empty()) break;
        wait_for_points(t, got.waits);
        return false;
      case transfer::outcome::no_memory:
        if (coherence.space_at(got.lacking).events() != got.memory_events) break;
        coherence.make_room(got.lacking, got.missing_bytes, t.sequence);
        wait_for_memory(t, *m_places[0], got);
        return false;
      case transfer::outcome::lost:
      case transfer::outcome::failed:  // told at the next fence; the array ends all the same
        if (got.cause && got.cause->where.empty()) m_failures.note(t, *got.cause);
        return true;
    }
  }
  return true;
}

}  // namespace tessera::schedule
