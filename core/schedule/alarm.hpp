#pragma once
// Something to be done once some time has passed.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tessera::schedule {

/// Rings once each time it was set and its time has passed, on a thread of its own. Thread-safe.
class alarm {
 public:
  using clock = std::chrono::steady_clock;
  explicit alarm(std::function<void()> ring) : m_ring(std::move(ring)), m_thread([this] { loop(); }) {}
  /// Waits for a ring that is under way.
  ~alarm() {
    {
      const std::lock_guard guard(m_mutex);
      m_end = true;
    }
    m_changed.notify_all();
    m_thread.join();
  }
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  /// Instead of what it was set to before.
  void set(clock::time_point when) {
    {
      const std::lock_guard guard(m_mutex);
      m_when = when;
    }
    m_changed.notify_all();
  }

 private:
  void loop() {
    std::unique_lock lock(m_mutex);
    while (!m_end) {
      if (!m_when) {
        m_changed.wait(lock);
      } else if (clock::now() < *m_when) {
        const clock::time_point when = *m_when;
        m_changed.wait_until(lock, when);
      } else {
        m_when.reset();
        lock.unlock();
        m_ring();
        lock.lock();
      }
    }
  }

  std::function<void()> m_ring;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::optional<clock::time_point> m_when;
  bool m_end = false;
  std::thread m_thread;  // last: it uses all above
};

}  // namespace tessera::schedule
