#include "core/schedule/device/hang_detector.hpp"

#include <algorithm>
#include <utility>

namespace tessera::schedule {

using namespace std::chrono_literals;

hang_detector::hang_detector(std::chrono::nanoseconds limit, const std::vector<transfer::stream*>& streams,
                             const transfer::stream_table& all, time_point now)
    : m_limit(limit), m_period(std::clamp<std::chrono::nanoseconds>(limit / 8, 1ms, 1s)), m_all(all), m_looked(now) {
  for (transfer::stream* s : streams) m_watched.emplace_back().which = s;
}

void hang_detector::see(watched& w) const {
  const std::uint64_t before = std::exchange(w.reached, w.which->completed());
  w.doing = {};
  std::uint64_t value = 0;
  w.moves = w.reached != before || !w.which->oldest(value, w.doing);
  std::erase_if(w.doing.after, [&](block::ticket t) { return m_all.reached(t); });
}

bool hang_detector::moves(std::uint32_t stream) const {
  return std::ranges::any_of(
      m_watched, [&](const watched& w) { return w.which->number() == stream && w.moves && w.which->busy(); });
}

/// Work behind other work that goes on is no hang, however long that takes.
void hang_detector::let_waiting_move() {
  for (bool more = true; more;) {
    more = false;
    for (watched& w : m_watched)
      if (!w.moves && std::ranges::any_of(w.doing.after, [&](block::ticket t) { return moves(t.stream); }))
        w.moves = more = true;
  }
}

std::optional<hang_detector::finding> hang_detector::look(time_point now) {
  const std::chrono::nanoseconds counted = std::min<std::chrono::nanoseconds>(now - m_looked, 2 * m_period);
  m_looked = now;
  for (watched& w : m_watched) see(w);
  let_waiting_move();
  for (watched& w : m_watched) {
    w.still = w.moves ? 0ns : w.still + counted;
    w.blocked_by_itself = w.moves || !w.doing.after.empty() ? 0ns : w.blocked_by_itself + counted;
  }
  for (watched& w : m_watched) {
    if (w.blocked_by_itself < m_limit && w.still < 2 * m_limit) continue;
    w.which->poll();  // perhaps nobody else has asked
    if (w.which->busy() && w.which->completed() == w.reached) return finding{w.which, std::move(w.doing)};
  }
  return std::nullopt;
}

}  // namespace tessera::schedule
