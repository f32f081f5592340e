#include "core/schedule/device/watchdog.hpp"

#include <pthread.h>

#include <algorithm>

namespace tessera::schedule {

watchdog::watchdog(std::chrono::nanoseconds limit, std::vector<transfer::stream*> streams,
                   const transfer::stream_table& all, std::function<void(finding)> tell)
    : m_limit(limit), m_all(all), m_tell(std::move(tell)) {
  const auto now = std::chrono::steady_clock::now();
  for (transfer::stream* s : streams) m_watched.push_back({s, 0, now});
  m_thread = std::thread([this] { loop(); });
}

watchdog::~watchdog() {
  {
    const std::lock_guard guard(m_mutex);
    m_end = true;
  }
  m_ended.notify_all();
  m_thread.join();
}

void watchdog::loop() {
  pthread_setname_np(pthread_self(), "tsr-watchdog");
  for (const watched& w : m_watched) w.which->device().attach_this_thread();
  using namespace std::chrono_literals;
  const auto period = std::clamp<std::chrono::nanoseconds>(m_limit / 8, 1ms, 1s);
  std::unique_lock lock(m_mutex);
  while (!m_ended.wait_for(lock, period, [this] { return m_end; })) {
    finding found;
    if (!look(std::chrono::steady_clock::now(), found)) continue;
    lock.unlock();
    m_tell(std::move(found));
    return;
  }
}

bool watchdog::look(time_point now, finding& out) {
  for (watched& w : m_watched) {
    const std::uint64_t reached = w.which->completed();
    if (w.which->busy() && reached == w.reached) continue;
    w.reached = reached;
    w.since = now;
  }
  for (watched& w : m_watched) {
    if (now - w.since < m_limit) continue;
    w.which->poll();  // perhaps nobody else has asked
    transfer::pending_work doing;
    std::uint64_t value = 0;
    if (w.which->completed() != w.reached || !w.which->oldest(value, doing)) continue;
    // What waits for another stream is a victim; for twice the limit, that other one has had its turn.
    const bool waits = std::ranges::any_of(doing.after, [&](block::ticket t) { return !m_all.reached(t); });
    if (waits && now - w.since < 2 * m_limit) continue;
    out = {w.which, std::move(doing)};
    return true;
  }
  return false;
}

}  // namespace tessera::schedule
