#pragma once
// Notices streams that do not end their work.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/schedule/device/hang_detector.hpp"

namespace tessera::schedule {

/// One thread that looks at streams from time to time, and tells of the first that hangs.
class watchdog {
 public:
  /// @param limit    see hang_detector
  /// @param streams  what to watch; they outlive this
  /// @param tell     called once, on the watchdog's thread, which ends afterwards
  watchdog(std::chrono::nanoseconds limit, const std::vector<transfer::stream*>& streams,
           const transfer::stream_table& all, std::function<void(const hang_detector::finding&)> tell);
  ~watchdog();  ///< waits for `tell`, if it has been called
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  void loop();

  const std::vector<transfer::stream*> m_streams;
  hang_detector m_detector;
  const std::function<void(const hang_detector::finding&)> m_tell;
  std::mutex m_mutex;
  std::condition_variable m_ended;
  bool m_end = false;
  std::thread m_thread;
};

}  // namespace tessera::schedule
