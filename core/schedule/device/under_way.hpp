#pragma once
// The launches of a device that are not complete.
#include <algorithm>
#include <mutex>
#include <vector>

#include "core/base/spin_lock.hpp"
#include "core/block/ticket.hpp"

namespace tessera::schedule {

struct in_flight_batch;

/// Those that were enqueued, and whose ends were not seen yet. Any thread.
class launches_under_way {
 public:
  void add(in_flight_batch& launch) {
    const std::lock_guard guard(m_lock);
    m_all.push_back(&launch);
  }
  void remove(const in_flight_batch& launch) {
    const std::lock_guard guard(m_lock);
    std::erase(m_all, &launch);
  }
  /// That has this ticket; null: there is none.
  in_flight_batch* find(block::ticket at) const;
  /// Calls look(launch) for each; none comes or goes meanwhile.
  template <class Look>
  void for_each(Look&& look) const {
    const std::lock_guard guard(m_lock);
    for (in_flight_batch* const one : m_all) look(*one);
  }

 private:
  mutable spin_lock m_lock;
  std::vector<in_flight_batch*> m_all;
};

}  // namespace tessera::schedule
