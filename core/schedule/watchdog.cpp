#include "core/schedule/watchdog.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "core/base/units.hpp"
#include "core/schedule/device_driver.hpp"
#include "core/schedule/scheduler.hpp"

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

std::unique_ptr<watchdog> scheduler::watch_streams() {
  const auto limit = std::chrono::nanoseconds(m_setup.settings->watchdog_ns);
  std::vector<transfer::stream*> watched;
  for (const auto& s : m_setup.coherence->streams().all())
    if (!s->device().has(TSR_DEVICE_INLINE)) watched.push_back(s.get());
  if (limit.count() == 0 || watched.empty() || m_simulated != nullptr) return nullptr;
  return std::make_unique<watchdog>(
      limit, watched, m_setup.coherence->streams(), [this, watched, limit](const watchdog::finding& found) {
        const plugin::device& device = found.which->device();
        const std::string text =
            fmt::format("device {} hangs: stream {} has not come further for {}, doing {}", device.name(),
                        found.which->number(), format_seconds(std::chrono::duration<double>(limit).count()),
                        found.doing.what.empty() ? "something that nobody waits for" : found.doing.what);
        m_failures.note({.text = text, .where = {}, .kind = error_kind::device});
        cancel(text, error_kind::device);
        m_failures.note_hung();
        device.give_up_threads();
        for (transfer::stream* s : watched)
          if (&s->device() == &device) s->abandon(TSR_DEADLINE_EXCEEDED, text);
        // What other devices have begun may end; what then still waits for this one never will.
        const auto until =
            std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(limit, std::chrono::seconds(2));
        for (transfer::stream* s : watched)
          while (s->busy() && std::chrono::steady_clock::now() < until) s->wait_until_idle(1'000'000);
        for (transfer::stream* s : watched)
          if (s->busy()) {
            s->device().give_up_threads();
            s->abandon(TSR_DEADLINE_EXCEEDED, text);
          }
        for (const auto& driver : m_drivers)
          if (driver) driver->wake();
        for (const auto& driver : m_store_drivers) driver->wake();
        m_work.notify_all();
        call_guests();
      });
}

}  // namespace tessera::schedule
