#include "core/schedule/device/watchdog.hpp"

#include <pthread.h>

#include <utility>

namespace tessera::schedule {

watchdog::watchdog(std::chrono::nanoseconds limit, const std::vector<transfer::stream*>& streams,
                   const transfer::stream_table& all, std::function<void(const hang_detector::finding&)> tell)
    : m_streams(streams), m_detector(limit, streams, all, std::chrono::steady_clock::now()), m_tell(std::move(tell)) {
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
  for (const transfer::stream* s : m_streams) s->device().attach_this_thread();
  std::unique_lock lock(m_mutex);
  while (!m_ended.wait_for(lock, m_detector.period(), [this] { return m_end; })) {
    const auto found = m_detector.look(std::chrono::steady_clock::now());
    if (!found) continue;
    lock.unlock();
    m_tell(*found);
    return;
  }
}

}  // namespace tessera::schedule
