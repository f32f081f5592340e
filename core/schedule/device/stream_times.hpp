#pragma once
// How long the work of a device took, from when it was seen to be complete.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/base/spin_lock.hpp"

namespace tessera::schedule {

/// Remembers when the last work of each compute stream was complete. For any thread: a watchdog's or a plugin's own may
/// see the end of work before the driver does.
class stream_times {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit stream_times(std::size_t streams) : m_last_ends(streams) {}

  /// Work on `stream`, whose inputs were there at `started`, is complete. Returns the nanoseconds since then, or since
  /// the work before it was complete: in a full pipeline that is its own time. `now` is asked for the time.
  template <class Clock>
  std::uint64_t complete(std::size_t stream, time_point started, const Clock& now) {
    const std::lock_guard guard(m_lock);
    const time_point end = now();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::max(started, m_last_ends[stream]));
    m_last_ends[stream] = end;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(ns.count(), 0));
  }

 private:
  spin_lock m_lock;
  std::vector<time_point> m_last_ends;
};

}  // namespace tessera::schedule
