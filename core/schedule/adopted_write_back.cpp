#include "core/schedule/adopted_write_back.hpp"

namespace tessera::schedule {

adopted_write_back::progress adopted_write_back::before_end(task::record& end, memory::space_number home,
                                                            transfer::acquisition& got, const failures& of_run) {
  block::access& a = end.accesses[0];
  if ((end.flags & task::flag_acquired) != 0) {
    m_coherence.finish({&a, 1});
    end.flags &= static_cast<std::uint8_t>(~task::flag_acquired);
  }
  while (m_coherence.adopted().stale(*a.block) && !of_run.cancelled()) {
    a.intent = intent::read;
    m_coherence.acquire({&a, 1}, home, got, end.sequence);
    switch (got.outcome) {
      case transfer::outcome::ready:
        if (got.waits.empty()) {
          m_coherence.finish({&a, 1});
          break;
        }
        end.flags |= task::flag_acquired;
        return progress::copying;
      case transfer::outcome::retry:
        if (got.waits.empty()) break;
        return progress::copying;
      case transfer::outcome::no_memory:
        if (m_coherence.space_at(got.lacking).waiters().events() != got.memory_events) break;
        m_coherence.make_room(got.lacking, got.missing, end.sequence);
        return progress::no_room;
      case transfer::outcome::lost:
      case transfer::outcome::failed:
        return progress::failed;
    }
  }
  return progress::home;
}

}  // namespace tessera::schedule
