#pragma once
// Notices streams that do not end their work.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/transfer/stream.hpp"

namespace tessera::schedule {

/// One thread that looks at streams from time to time. A stream that is busy and whose oldest ticket has not been
/// reached for the limit hangs, unless that work waits for another stream, which hangs then. Nothing is measured from
/// the plugin's side: work that takes longer than the limit is taken for hanging.
class watchdog {
 public:
  /// A stream that hangs, and what it was doing.
  struct finding {
    transfer::stream* which = nullptr;
    transfer::pending_work doing;
  };
  /// @param streams  what to watch; they outlive this
  /// @param tell     called once, on the watchdog's thread, which ends afterwards
  watchdog(std::chrono::nanoseconds limit, std::vector<transfer::stream*> streams, const transfer::stream_table& all,
           std::function<void(finding)> tell);
  ~watchdog();  ///< waits for `tell`, if it has been called
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  using time_point = std::chrono::steady_clock::time_point;
  struct watched {
    transfer::stream* which = nullptr;
    std::uint64_t reached = 0;
    time_point since;  // when `reached` was seen first, or the stream idle last
  };
  void loop();
  bool look(time_point now, finding& out);

  const std::chrono::nanoseconds m_limit;
  std::vector<watched> m_watched;
  const transfer::stream_table& m_all;
  std::function<void(finding)> m_tell;
  std::mutex m_mutex;
  std::condition_variable m_ended;
  bool m_end = false;
  std::thread m_thread;
};

}  // namespace tessera::schedule
