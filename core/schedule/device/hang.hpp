#pragma once
// What happens when a stream hangs.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/schedule/device/driver_table.hpp"
#include "core/schedule/device/watchdog.hpp"
#include "core/schedule/failures.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Has the streams of all devices watched, and ends a run in which one hangs: it is cancelled, what is pending on the
/// device counts as failed, other devices may end what they have begun, and what then still waits is given up.
class hang_guard {
 public:
  /// What it works with; all outlive it.
  struct setup {
    std::chrono::nanoseconds limit{0};  ///< without progress; 0: nothing is watched
    transfer::coherence* coherence = nullptr;
    const driver_table* drivers = nullptr;
    class failures* failures = nullptr;
    std::function<void(const std::string& why)> cancel;  ///< the run, by the watchdog's thread
    std::function<void()> wake;                          ///< all threads: what they waited for has been given up
  };
  explicit hang_guard(setup with);

  void begin();  ///< starts to watch; throws std::system_error when the system refuses a thread
  /// Waits for what a finding has begun. Behind the drivers, which wait until nothing is busy: it may have to decide.
  void end() noexcept { m_watchdog.reset(); }

 private:
  void found(const hang_detector::finding& what);
  void give_up(const transfer::stream& hanging, const std::string& text);

  const setup m_setup;
  std::vector<transfer::stream*> m_watched;
  std::unique_ptr<watchdog> m_watchdog;  // null: nothing is watched
};

}  // namespace tessera::schedule
